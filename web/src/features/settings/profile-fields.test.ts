import { expect, test } from "vitest";
import { commandLine, DEMO_COMMAND, parseArgs, parseEnv } from "./profile-fields";

test("arguments are lines, taken as they are", () => {
  expect(parseArgs("acp\n--flag with space\n\n")).toEqual(["acp", "--flag with space"]);
});

test("variables are NAME=value lines; the first line that is none is named", () => {
  expect(parseEnv("A=1\n\nB=x=y\n")).toEqual({ env: { A: "1", B: "x=y" } });
  expect(parseEnv("A=1\nnot a variable")).toEqual({ wrongLine: "not a variable" });
});

test("a command line is shown as one would type it", () => {
  expect(commandLine({ command: "agent", args: ["acp", "two words"] })).toBe('agent acp "two words"');
  expect(commandLine({ command: DEMO_COMMAND, args: [] })).toBe("built in");
});

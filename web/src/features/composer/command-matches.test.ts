import { expect, test } from "vitest";
import { commandMatches } from "./command-matches";

const commands = ["review", "compact", "pre-review"].map((name) => ({ name, description: "" }));
const names = (text: string) => commandMatches(text, commands).map(({ name }) => name);

test("commands complete what stands alone in the field, those that start with it first", () => {
  expect(names("/re")).toEqual(["review", "pre-review"]);
  expect(names("/")).toEqual(["review", "compact", "pre-review"]);
  expect(names("/review now")).toEqual([]);
  expect(names("see /re")).toEqual([]);
});

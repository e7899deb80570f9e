import { expect, test } from "vitest";
import { type Place, parsePlace, placeAddress } from "./place";

const read = (address: string) => parsePlace(new URL(address, "http://localhost"));

const PLACES: Array<[address: string, place: Place]> = [
  ["/", { kind: "home", workspaceId: undefined }],
  ["/w/w1", { kind: "home", workspaceId: "w1" }],
  ["/w/w1/settings/agents", { kind: "settings", workspaceId: "w1", section: "agents" }],
  [
    "/w/w1/t/t1",
    { kind: "task", workspaceId: "w1", taskId: "t1", sessionId: undefined, pane: "chat", file: undefined },
  ],
  [
    "/w/w1/t/t1?session=s1&pane=changes&file=web%3Asrc%2Fa+b.ts",
    {
      kind: "task",
      workspaceId: "w1",
      taskId: "t1",
      sessionId: "s1",
      pane: "changes",
      file: "web:src/a b.ts",
    },
  ],
];

test.each(PLACES)("%s is a place and the place has that address", (address, place) => {
  expect(read(address)).toEqual(place);
  expect(placeAddress(place)).toBe(address);
});

test("an address of nothing is home", () => {
  expect(read("/nowhere")).toEqual({ kind: "home", workspaceId: undefined });
  expect(read("/w/w1/unknown/x")).toEqual({ kind: "home", workspaceId: "w1" });
  expect(read("/w/w1/settings/unknown")).toMatchObject({ section: "repositories" });
  expect(read("/w/%E0%A4%A/t/t1")).toMatchObject({ kind: "task", taskId: "t1" });
});

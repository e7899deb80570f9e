import { expect, test } from "vitest";
import {
  addToField,
  changeUpload,
  FILE_BYTES,
  forgetUpload,
  newUpload,
  takeFromField,
  type UploadsState,
  uploadsOf,
} from "./uploads";

function field(...names: string[]): UploadsState {
  const state: UploadsState = { byId: {}, fields: {} };
  for (const name of names) addToField(state, "s1", newUpload(name, { name, size: 1 }));
  return state;
}

test("a file of just the limit fits, one byte more does not and says so", () => {
  expect(newUpload("a", { name: "a", size: FILE_BYTES }).state).toBe("uploading");
  const large = newUpload("a", { name: "a", size: FILE_BYTES + 1 });
  expect([large.state, large.problem]).toEqual(["unfit", "Larger than 10 MiB."]);
});

test("sending takes the files out of their field, and leaves behind what cannot be sent", () => {
  const state = field("a", "b");
  addToField(state, "s1", newUpload("large", { name: "large", size: FILE_BYTES + 1 }));
  addToField(state, "s2", newUpload("other", { name: "other", size: 1 }));
  expect(takeFromField(state, "s1")).toEqual(["a", "b"]);
  expect(state.fields).toEqual({ s1: [], s2: ["other"] });
  expect(Object.keys(state.byId)).toEqual(["a", "b", "other"]);
});

test("progress of a file that was removed changes nothing", () => {
  const state = field("a");
  forgetUpload(state, "a");
  changeUpload(state, "a", { sent: 1, state: "ready" });
  expect(state.byId).toEqual({});
  expect(uploadsOf(state, ["a"])).toEqual([]);
});

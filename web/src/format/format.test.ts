import { expect, test } from "vitest";
import { bytes, compact, counted } from "./numbers";
import { measuredAge, shortAge } from "./relative-time";
import { sentence } from "./sentence";

const NOW = Date.parse("2026-01-15T12:00:00Z");

test.each([
  ["2026-01-15T12:00:30.000000Z", "now"],
  ["2026-01-15T11:59:01.000000Z", "now"],
  ["2026-01-15T11:56:00.000000Z", "4 min"],
  ["2026-01-15T09:30:00.000000Z", "2 h"],
  ["2026-01-12T12:00:00.000000Z", "3 d"],
  ["2025-12-11T12:00:00.000000Z", "5 w"],
  ["nonsense", "now"],
])("the age of %s is %s", (timestamp, age) => {
  expect(shortAge(timestamp, NOW)).toBe(age);
});

test("a measurement counts seconds", () => {
  expect(measuredAge("2026-01-15T11:59:57.000000Z", NOW)).toBe("3 s ago");
  expect(measuredAge("2026-01-15T11:58:00.000000Z", NOW)).toBe("2 min ago");
});

test.each([
  [0, "0"],
  [986, "986"],
  [1_240, "1.2k"],
  [1_999, "1.9k"],
  [14_800, "14k"],
  [2_100_000, "2.1M"],
])("%d is %s", (value, text) => {
  expect(compact(value)).toBe(text);
});

test.each([
  [0, "0 B"],
  [1023, "1023 B"],
  [1024, "1.0 KB"],
  [4_300, "4.2 KB"],
  [10 * 1024 * 1024, "10 MB"],
])("%d bytes are %s", (count, text) => {
  expect(bytes(count)).toBe(text);
});

test("counts name their things", () => {
  expect([counted(1, "file"), counted(2, "branch", "branches")]).toEqual(["1 file", "2 branches"]);
});

test("words of a program become a sentence", () => {
  expect(["the base moved; try again", "Done.", "", " why? "].map(sentence)).toEqual([
    "The base moved; try again.",
    "Done.",
    "",
    "Why?",
  ]);
});

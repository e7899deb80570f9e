import { beforeEach, expect, test } from "vitest";
import { keptKeys } from "~/socket/kept";
import { keepSecret } from "~/socket/secret";
import { forgetAnswers, keepAnswers, readAnswers } from "./kept-answers";

const ONE = { m1: { selected: ["a"], text: "" }, m2: { selected: [], text: "half a" } };

beforeEach(() => {
  localStorage.clear();
  keepSecret("secret");
});

test("answers begun are there again until they are taken back or the request ends", () => {
  expect(readAnswers("p1")).toEqual({});
  keepAnswers("p1", ONE);
  expect(readAnswers("p1")).toEqual(ONE);
  keepAnswers("p1", { m1: { selected: [], text: "" }, m2: { selected: [], text: " " } });
  expect(readAnswers("p1")).toEqual({ m2: { selected: [], text: " " } });
  keepAnswers("p1", { m1: { selected: [], text: "" } });
  expect(keptKeys("flightstrip.answers.")).toEqual([]);
  keepAnswers("p1", ONE);
  forgetAnswers("p1");
  expect(keptKeys("flightstrip.answers.")).toEqual([]);
});

test("of many requests the oldest are forgotten", () => {
  for (let id = 10; id < 70; id++) keepAnswers(`0190-${id}`, ONE);
  expect(keptKeys("flightstrip.answers.")).toHaveLength(50);
  expect(readAnswers("0190-19")).toEqual({});
  expect(readAnswers("0190-20")).toEqual(ONE);
});

test.each([
  "no json",
  "null",
  "3",
  '{"m1":null,"m2":{"selected":"a","text":""},"m3":{"selected":[1],"text":""},"m4":{"selected":[]}}',
])("what is kept but no answer is none: %s", (held) => {
  localStorage.setItem("flightstrip.answers.p1", held);
  expect(readAnswers("p1")).toEqual({});
});

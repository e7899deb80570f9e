// @vitest-environment jsdom
// The sanitiser needs a DOM that is complete; happy-dom lacks parts it relies on.
import { describe, expect, test } from "vitest";
import { inertHtml } from "./inert-html";
import { advanceBlocks, NO_BLOCKS } from "./markdown-blocks";
import { NESTING } from "./markdown-lexer";

const html = (text: string) =>
  advanceBlocks(NO_BLOCKS, text)
    .list.map(({ token }) => token && inertHtml(token))
    .join("");

function dom(text: string): HTMLElement {
  const element = document.createElement("div");
  element.innerHTML = html(text);
  return element;
}

describe("C25 f agent text is inert", () => {
  test("HTML is shown as text", () => {
    for (const text of [
      "<img src=x onerror=alert(1)>",
      "a <script>alert(1)</script> b",
      "<svg/onload=alert(1)>",
    ]) {
      const shown = dom(text);
      expect(shown.querySelector("img, script, svg")).toBeNull();
      expect(shown.textContent).toContain("alert(1)");
    }
  });

  test.each([
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:x)",
    "[x](file:///etc/passwd)",
    "<javascript:alert(1)>",
    "![x](javascript:alert(1))",
  ])("%s leads nowhere", (text) => {
    for (const link of dom(text).querySelectorAll("a")) expect(link.getAttribute("href")).toBeNull();
  });

  test("http, https and mailto links work, elsewhere and without a trace", () => {
    for (const address of ["http://a.test/", "https://a.test/", "mailto:a@b.test"]) {
      const link = dom(`[x](${address})`).querySelector("a");
      expect(link?.getAttribute("href")).toBe(address);
      expect(link?.getAttribute("target")).toBe("_blank");
      expect(link?.getAttribute("rel")).toContain("noopener");
    }
  });

  test("a picture is a link: nothing is fetched by looking", () => {
    const shown = dom("![a plan](https://a.test/p.png)");
    expect(shown.querySelector("img")).toBeNull();
    expect(shown.querySelector("a")?.textContent).toBe("a plan");
  });

  test("attributes cannot be smuggled through titles and languages", () => {
    const shown = dom('[x](https://a.test "a\\" onclick=alert(1) b")\n\n> `<b onclick=x>`');
    for (const element of shown.querySelectorAll("*")) {
      for (const name of element.getAttributeNames()) expect(name.startsWith("on")).toBe(false);
    }
  });

  test("task lists keep their boxes, and no other field appears", () => {
    const shown = dom("- [x] done\n- [ ] open");
    expect(shown.querySelectorAll("input[type=checkbox][disabled]")).toHaveLength(2);
  });
});

describe("C25 f no text is too much for the page", () => {
  test.each([
    ["quotes", ">".repeat(1_999)],
    ["quotes apart", "> ".repeat(50_000)],
    ["lists", "- ".repeat(3_000)],
    ["numbers", "1. ".repeat(3_000)],
    ["mixed, further down", `Text.\n\n${"> - ".repeat(2_000)}x`],
    ["brackets", "[".repeat(100_000)],
    ["emphasis", `${"*a ".repeat(30_000)}${"b* ".repeat(30_000)}`],
  ])("%s without end are shown, every sign of them", (_, text) => {
    const blocks = advanceBlocks(NO_BLOCKS, text).list;
    expect(blocks.map(({ raw }) => raw).join("")).toBe(text);
    for (const { token } of blocks) if (token) inertHtml(token);
  });

  test("a paragraph too long to be searched is one plain text, and the next is formatted again", () => {
    const long = "_a*b".repeat(25_000);
    const shown = dom(`${long}\n\n**strong**`);
    expect(shown.textContent).toContain(long);
    expect(shown.querySelectorAll("em")).toHaveLength(0);
    expect(shown.querySelectorAll("strong")).toHaveLength(1);
  });

  test("what people nest is formatted", () => {
    expect(dom(`${"> ".repeat(NESTING)}deep`).querySelectorAll("blockquote")).toHaveLength(NESTING);
    expect(advanceBlocks(NO_BLOCKS, `${"> ".repeat(NESTING + 1)}x`).list[0]?.token).toBeUndefined();
    expect(dom(`${"-".repeat(200)}\n\n${"* ".repeat(3)}`).querySelectorAll("hr")).toHaveLength(2);
  });
});

describe("streaming", () => {
  const whole =
    "# Title\n\nFirst paragraph.\n\n- one\n- two\n\n```rust\nlet a = 1;\n\nlet b = 2;\n```\n\nThe end.";

  test("whatever the cuts, the blocks are those of the whole text", () => {
    const expected = advanceBlocks(NO_BLOCKS, whole).list.map(({ raw }) => raw);
    for (const step of [1, 2, 3, 7, 20]) {
      let blocks = NO_BLOCKS;
      for (let end = step; end < whole.length + step; end += step)
        blocks = advanceBlocks(blocks, whole.slice(0, end));
      expect(blocks.list.map(({ raw }) => raw)).toEqual(expected);
    }
  });

  test("finished blocks are the same objects while the last one grows", () => {
    const before = advanceBlocks(NO_BLOCKS, "One.\n\nTwo.\n\nThr");
    const after = advanceBlocks(before, "One.\n\nTwo.\n\nThree and more.");
    const texts = (blocks: typeof before) => blocks.list.filter(({ token }) => token?.type === "paragraph");
    expect(texts(after)[0]).toBe(texts(before)[0]);
    expect(texts(after)[1]).toBe(texts(before)[1]);
    expect(texts(after)[2]).not.toBe(texts(before)[2]);
  });

  test("a text that is another one is parsed anew", () => {
    const before = advanceBlocks(NO_BLOCKS, "One.\n\nTwo.");
    expect(advanceBlocks(before, "Other.").list).toHaveLength(1);
    expect(advanceBlocks(before, before.text)).toBe(before);
  });
});

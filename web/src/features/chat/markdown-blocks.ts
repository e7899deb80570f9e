/**
 * Markdown as a list of blocks, parsed as little as possible while it streams: text that only grew keeps every
 * block but the last, so finished blocks are the same objects and do not render again.
 */
import type { Token } from "marked";
import { lex } from "./markdown-lexer";

export interface Block {
  /** Where it starts in the text: also its key. */
  offset: number;
  /** Its text as it was written. */
  raw: string;
  /** What it is; absent when it can only be shown as it was written. */
  token?: Token | undefined;
}

export interface Blocks {
  text: string;
  list: readonly Block[];
}

export const NO_BLOCKS: Blocks = { text: "", list: [] };

/** The blocks of `text`, reusing those of a text it continues. */
export function advanceBlocks(previous: Blocks, text: string): Blocks {
  if (text === previous.text) return previous;
  const last = lastContent(previous.list);
  if (last === undefined || !text.startsWith(previous.text)) return { text, list: blocksFrom(text, 0) };
  const kept = previous.list.filter((block) => block.offset < last.offset);
  return { text, list: [...kept, ...blocksFrom(text, last.offset)] };
}

function lastContent(list: readonly Block[]): Block | undefined {
  return list.findLast((block) => block.token?.type !== "space");
}

function blocksFrom(text: string, start: number): Block[] {
  const rest = text.slice(start);
  let offset = start;
  return (lex(rest) ?? [undefined]).map((token) => {
    const block: Block = { offset, raw: token?.raw ?? rest, token };
    offset += block.raw.length;
    return block;
  });
}

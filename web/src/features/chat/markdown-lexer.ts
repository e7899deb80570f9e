/**
 * Markdown to tokens in bounded time and depth, whatever an agent wrote (C25). Text that would cost more than its
 * formatting is worth is shown as it is: nothing of it is lost.
 */
import { Lexer, type Token } from "marked";

/** Quotes and lists inside one another. People use three; at some 1,700 the parser runs out of stack. */
export const NESTING = 40;
/** Characters of one paragraph that are searched for emphasis and links: the search takes the square of it. */
export const INLINE_CHARS = 8 * 1024;

/** What quotes and lists begin with. A line of more of them than is sensible belongs to no text that people write. */
const TOO_DEEP = new RegExp(`^(?:[ \\t]*(?:>|[-+*][ \\t]|\\d{1,9}[.)][ \\t])){${NESTING + 1},}`, "m");

/** The tokens of `text`; `undefined` when it can only be shown as it is. */
export function lex(text: string): Token[] | undefined {
  if (TOO_DEEP.test(text)) return undefined;
  const lexer = new Lexer({ gfm: true });
  try {
    const tokens = lexer.blockTokens(text.replace(/\r\n|\r/g, "\n"));
    for (const { src, tokens } of lexer.inlineQueue) {
      if (src.length <= INLINE_CHARS) lexer.inlineTokens(src, tokens);
      else tokens.push({ type: "text", raw: src, text: src, escaped: false });
    }
    return tokens;
  } catch {
    // Depth in some other guise: emphasis in emphasis, say.
    return undefined;
  }
}

import type { Tokens } from "marked";
import { memo, useRef } from "react";
import { CodeBlock } from "./CodeBlock";
import { inertHtml } from "./inert-html";
import { advanceBlocks, type Block, NO_BLOCKS } from "./markdown-blocks";

/** Streamed Markdown. Only its last block is parsed and drawn again while text arrives. */
export function Markdown({ text }: { text: string }) {
  const held = useRef(NO_BLOCKS);
  held.current = advanceBlocks(held.current, text);
  return (
    <div className="prose">
      {held.current.list.map((block) => (
        <BlockView key={block.offset} block={block} />
      ))}
    </div>
  );
}

const BlockView = memo(function BlockView({ block }: { block: Block }) {
  const { token } = block;
  if (token?.type === "space" || token?.type === "def") return null;
  const html = token && inertHtml(token);
  if (token === undefined || html === undefined) return <p className="as-written">{block.raw}</p>;
  if (token.type === "code") {
    const { text, lang } = token as Tokens.Code;
    return <CodeBlock code={text} language={lang ?? ""} />;
  }
  // biome-ignore lint/security/noDangerouslySetInnerHtml: `inertHtml` is the one place that makes HTML, sanitised.
  return <div dangerouslySetInnerHTML={{ __html: html }} />;
});

import { CopyButton } from "~/ui/CopyButton";

/** Code as the agent wrote it, with a way to take it along. */
export function CodeBlock({ code, language }: { code: string; language: string }) {
  return (
    <figure className="overflow-hidden rounded-lg border border-line bg-sunken">
      <figcaption className="flex h-8 items-center justify-between pr-1 pl-3 text-faint text-xs">
        {language.split(/\s/)[0] || "text"}
        <CopyButton text={code} label="Copy code" className="size-6.5 max-sm:size-8" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keys. */}
      <pre tabIndex={0} className="!rounded-none !border-0 !border-t !border-line">
        <code>{code}</code>
      </pre>
    </figure>
  );
}

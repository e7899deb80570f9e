import { Tooltip as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { Kbd } from "./Kbd";

/** A hint for a pointer. Everything it says must also be reachable without one. */
export function Tooltip({ text, keys, children }: { text: ReactNode; keys?: string; children: ReactNode }) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          sideOffset={6}
          collisionPadding={8}
          className="z-60 flex max-w-80 animate-fade items-center gap-2 break-words rounded-md bg-text px-2 py-1 text-surface text-xs shadow-float"
        >
          {text}
          {keys && <Kbd className="border-current text-inherit">{keys}</Kbd>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

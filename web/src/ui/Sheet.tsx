import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";

interface SheetProps {
  /** Read out, not drawn. */
  title: string;
  side: "left" | "bottom";
  open: boolean;
  onOpenChange(open: boolean): void;
  children: ReactNode;
}

const SIDE = {
  left: "inset-y-0 left-0 w-92 max-w-[88vw] animate-slide",
  bottom: "inset-x-0 bottom-0 h-[88dvh] animate-sheet rounded-t-2xl pb-[env(safe-area-inset-bottom)]",
} as const;

/** A panel over the page. Its scrolling does not reach the page below. */
export function Sheet({ title, side, open, onOpenChange, children }: SheetProps) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-30 animate-fade bg-(--scrim)" />
        <Radix.Content
          aria-describedby={undefined}
          // Focus goes to the panel: a field in it would raise a phone's keyboard.
          tabIndex={-1}
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
          }}
          className={`fixed z-30 flex flex-col overflow-hidden overscroll-contain bg-sunken shadow-float outline-none ${SIDE[side]}`}
        >
          <Radix.Title className="sr-only">{title}</Radix.Title>
          {side === "bottom" && (
            <span
              aria-hidden="true"
              className="mx-auto mt-2 mb-1 h-1 w-9 shrink-0 rounded-full bg-line-strong"
            />
          )}
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { IconButton } from "./IconButton";

interface DialogProps {
  title: string;
  description?: string;
  onClose(): void;
  children: ReactNode;
  /** Buttons at the end; they stay in view while the content scrolls. */
  footer?: ReactNode;
  width?: string;
}

/** The first field gets the keys; under a thumb it would raise the keyboard over what is to be read. */
function focusFirstField(event: Event): void {
  event.preventDefault();
  const panel = event.currentTarget as HTMLElement;
  const touch = window.matchMedia("(pointer: coarse)").matches;
  const field = touch
    ? null
    : panel.querySelector<HTMLElement>("input:not([type=checkbox]), textarea, select");
  (field ?? panel).focus();
}

/** A centred window; on a phone a sheet that fills the screen. */
export function Dialog({ title, description, onClose, children, footer, width = "sm:w-140" }: DialogProps) {
  return (
    <Radix.Root open onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 animate-fade bg-(--scrim)" />
        <Radix.Content
          tabIndex={-1}
          onOpenAutoFocus={focusFirstField}
          {...(description === undefined ? { "aria-describedby": undefined } : {})}
          className={`fixed z-50 flex flex-col bg-surface shadow-float outline-none max-sm:inset-0 max-sm:animate-sheet max-sm:pt-[env(safe-area-inset-top)] sm:top-[9vh] sm:left-1/2 sm:max-h-[82vh] sm:max-w-[calc(100vw-32px)] sm:-translate-x-1/2 sm:animate-rise sm:rounded-2xl ${width}`}
        >
          <header className="flex items-start gap-3 px-5 pt-4 pb-3">
            <div className="min-w-0 flex-1">
              <Radix.Title className="font-semibold text-base tracking-[-0.01em]">{title}</Radix.Title>
              {description && (
                <Radix.Description className="mt-0.5 text-[13px] text-muted">{description}</Radix.Description>
              )}
            </div>
            <Radix.Close asChild>
              <IconButton label="Close" className="-mt-1 -mr-2">
                <X size={17} />
              </IconButton>
            </Radix.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-auto overscroll-contain px-5 pb-5">{children}</div>
          {footer && (
            <footer className="flex items-center justify-end gap-2 border-line border-t px-5 py-3 pb-[max(12px,env(safe-area-inset-bottom))]">
              {footer}
            </footer>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

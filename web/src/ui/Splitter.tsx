import type { KeyboardEvent, PointerEvent } from "react";

interface SplitterProps {
  label: string;
  width: number;
  min: number;
  max: number;
  /** The side of the splitter on which the resized panel lies. */
  panel: "before" | "after";
  onResize(width: number): void;
}

const KEY_STEP = 16;

/** A line to drag, or to move with the arrow keys. */
export function Splitter({ label, width, min, max, panel, onResize }: SplitterProps) {
  const resize = (next: number) => onResize(Math.round(Math.min(max, Math.max(min, next))));
  const grows = panel === "before" ? 1 : -1;
  const startDrag = (event: PointerEvent<HTMLElement>) => {
    const from = event.clientX;
    const handle = event.currentTarget;
    handle.setPointerCapture(event.pointerId);
    const move = (next: globalThis.PointerEvent) => resize(width + (next.clientX - from) * grows);
    const end = () => {
      handle.removeEventListener("pointermove", move);
      handle.removeEventListener("pointerup", end);
      handle.removeEventListener("pointercancel", end);
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", end);
    handle.addEventListener("pointercancel", end);
  };
  const pressKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowRight") resize(width + KEY_STEP * grows);
    if (event.key === "ArrowLeft") resize(width - KEY_STEP * grows);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a splitter that can be moved is a separator with a value; hr has none.
    <div
      role="separator"
      aria-label={label}
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={min}
      aria-valuemax={max}
      tabIndex={0}
      onPointerDown={startDrag}
      onKeyDown={pressKey}
      className="-mx-1 group relative z-10 w-2 shrink-0 cursor-col-resize touch-none outline-none"
    >
      <span className="absolute inset-y-0 left-1/2 w-px bg-line transition-colors group-hover:w-0.5 group-hover:bg-accent group-focus-visible:w-0.5 group-focus-visible:bg-accent" />
    </div>
  );
}

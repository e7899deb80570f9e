import { type PointerEvent, type RefObject, useRef, useState } from "react";
import { moved } from "~/store/queue";

/** So near to an edge a pointer wants to see what is beyond it. */
const EDGE_PX = 24;
/** Per frame: a row in about a tenth of a second, slow enough to let go at the one that is meant. */
const STEP_PX = 6;

interface DragOrder {
  /** The order to draw while one is dragged. */
  preview: string[] | undefined;
  dragged: string | undefined;
  begin(event: PointerEvent, id: string): void;
}

/** Dragging one item of a list by its grip, with pointer or finger. The order is told once, when it is let go. */
export function useDragOrder(
  list: RefObject<HTMLElement | null>,
  ids: readonly string[],
  onMove: (id: string, to: number) => void,
): DragOrder {
  const [drag, setDrag] = useState<{ id: string; to: number }>();
  const latest = useRef({ ids, onMove });
  latest.current = { ids, onMove };
  const begin = (event: PointerEvent, id: string) => {
    if (event.button !== 0) return;
    event.preventDefault();
    const grip = event.currentTarget as HTMLElement;
    grip.focus();
    let to = latest.current.ids.indexOf(id);
    setDrag({ id, to });
    let y = event.clientY;
    let frame = 0;
    const show = () => {
      to = placeAt(list.current, y);
      setDrag({ id, to });
    };
    // A list that is longer than its window goes on below a pointer that rests at its edge.
    const scroll = () => {
      if (scrollAt(list.current, y)) show();
      frame = requestAnimationFrame(scroll);
    };
    const follow = (move: globalThis.PointerEvent) => {
      if (move.pointerId !== event.pointerId) return;
      y = move.clientY;
      show();
    };
    const end = (done: globalThis.PointerEvent) => {
      if (done.pointerId !== event.pointerId) return;
      window.removeEventListener("pointermove", follow);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
      cancelAnimationFrame(frame);
      setDrag(undefined);
      if (done.type === "pointerup") latest.current.onMove(id, to);
    };
    // The window hears all of it: the grip itself moves in the list meanwhile, which would end a capture.
    window.addEventListener("pointermove", follow);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
    frame = requestAnimationFrame(scroll);
  };
  const preview = drag && moved(ids, drag.id, drag.to);
  return { preview, dragged: drag?.id, begin };
}

/** The place in the list that this height points to; beyond what is in view the place at its edge. */
function placeAt(list: HTMLElement | null, y: number): number {
  if (!list) return 0;
  const view = list.getBoundingClientRect();
  const height = Math.min(Math.max(y, view.top + 1), view.bottom - 1);
  const items = [...list.children];
  const at = items.findIndex((item) => height < item.getBoundingClientRect().bottom);
  return at < 0 ? items.length - 1 : at;
}

/** Scrolls a step when the pointer is at an edge of the list; says whether there was anything to scroll. */
function scrollAt(list: HTMLElement | null, y: number): boolean {
  if (!list) return false;
  const view = list.getBoundingClientRect();
  const before = list.scrollTop;
  if (y < view.top + EDGE_PX) list.scrollTop = before - STEP_PX;
  else if (view.bottom - EDGE_PX < y) list.scrollTop = before + STEP_PX;
  return list.scrollTop !== before;
}

import { type PointerEvent, type RefObject, useRef, useState } from "react";
import { moved } from "~/store/queue";

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
    const follow = (move: globalThis.PointerEvent) => {
      if (move.pointerId !== event.pointerId) return;
      to = placeAt(list.current, move.clientY);
      setDrag({ id, to });
    };
    const end = (done: globalThis.PointerEvent) => {
      if (done.pointerId !== event.pointerId) return;
      window.removeEventListener("pointermove", follow);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
      setDrag(undefined);
      if (done.type === "pointerup") latest.current.onMove(id, to);
    };
    // The window hears all of it: the grip itself moves in the list meanwhile, which would end a capture.
    window.addEventListener("pointermove", follow);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
  };
  const preview = drag && moved(ids, drag.id, drag.to);
  return { preview, dragged: drag?.id, begin };
}

/** The place in the list that this height points to. */
function placeAt(list: HTMLElement | null, y: number): number {
  const items = [...(list?.children ?? [])];
  const at = items.findIndex((item) => y < item.getBoundingClientRect().bottom);
  return at < 0 ? items.length - 1 : at;
}

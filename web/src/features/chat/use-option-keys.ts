import { useEffect, useRef, useSyncExternalStore } from "react";
import { isTyping } from "~/app/is-typing";
import { store } from "~/app/runtime";

/** Open cards in the order they were drawn: the keys belong to the newest, or to the one that has the focus. */
let cards: readonly string[] = [];
const listeners = new Set<() => void>();

function setCards(next: readonly string[]): void {
  cards = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

interface CardKeys {
  /** A number from 1 to 9 was pressed; the index counts from 0. */
  choose(index: number): void;
  /** Enter was pressed outside of every control. */
  confirm?(): void;
}

/**
 * Keys 1–9 choose an option of one open card and Enter sends what was chosen there, unless a person types or a dialog
 * is open. Returns whether this card has the keys; its element carries `data-card`.
 */
export function useOptionKeys(cardId: string, keys: CardKeys): boolean {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    setCards([...cards, cardId]);
    const press = (event: KeyboardEvent) => {
      if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey) return;
      if (ownerOf(event) !== cardId) return;
      if (/^[1-9]$/.test(event.key)) latest.current.choose(Number(event.key) - 1);
      else if (event.key === "Enter" && confirms(event)) latest.current.confirm?.();
    };
    window.addEventListener("keydown", press);
    return () => {
      window.removeEventListener("keydown", press);
      const last = cards.lastIndexOf(cardId);
      setCards(cards.filter((_, index) => index !== last));
    };
  }, [cardId]);
  return useSyncExternalStore(subscribe, () => cards.at(-1) === cardId);
}

function ownerOf(event: KeyboardEvent): string | undefined {
  const focused = event.target instanceof HTMLElement ? event.target.closest("[data-card]") : null;
  return focused?.getAttribute("data-card") ?? cards.at(-1);
}

/** Enter on a button or link is theirs, and so is Enter while the keys walk through the rows. */
function confirms(event: KeyboardEvent): boolean {
  const onControl = event.target instanceof HTMLElement && event.target.closest("a, button") !== null;
  return !onControl && store.getState().ui.walked === undefined;
}

import { useEffect, useRef } from "react";
import { isTyping } from "~/app/is-typing";

/** Open cards in the order they were drawn: the keys belong to the newest. */
const cards: string[] = [];

/** Keys 1–9 choose an option of the newest open card, unless a person types or a dialog is open. */
export function useOptionKeys(cardId: string, choose: (index: number) => void): void {
  const latest = useRef(choose);
  useEffect(() => {
    latest.current = choose;
  });
  useEffect(() => {
    cards.push(cardId);
    const press = (event: KeyboardEvent) => {
      if (cards.at(-1) !== cardId || isTyping(event) || event.metaKey || event.ctrlKey || event.altKey)
        return;
      if (/^[1-9]$/.test(event.key)) latest.current(Number(event.key) - 1);
    };
    window.addEventListener("keydown", press);
    return () => {
      window.removeEventListener("keydown", press);
      cards.splice(cards.lastIndexOf(cardId), 1);
    };
  }, [cardId]);
}

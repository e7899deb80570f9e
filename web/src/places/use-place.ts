import { useMemo, useSyncExternalStore } from "react";
import { type Place, parsePlace, placeAddress } from "./place";

const CHANGED = "flightstrip:place";

function subscribe(listener: () => void): () => void {
  window.addEventListener("popstate", listener);
  window.addEventListener(CHANGED, listener);
  return () => {
    window.removeEventListener("popstate", listener);
    window.removeEventListener(CHANGED, listener);
  };
}

const address = () => location.pathname + location.search;

/** Where the person is. */
export function usePlace(): Place {
  const current = useSyncExternalStore(subscribe, address);
  return useMemo(() => currentPlace(current), [current]);
}

export function currentPlace(from: string = address()): Place {
  const url = new URL(from, "http://localhost");
  return parsePlace(url);
}

/** Goes to a place: a new entry of the history, or in place of the current one. */
export function go(place: Place, how: "push" | "replace" = "push"): void {
  const next = placeAddress(place);
  if (next === address()) return;
  if (how === "push") history.pushState(null, "", next);
  else history.replaceState(null, "", next);
  window.dispatchEvent(new Event(CHANGED));
}

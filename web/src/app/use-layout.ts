import { useSyncExternalStore } from "react";

export type Layout = "phone" | "tablet" | "desktop";

const DESKTOP = "(min-width: 1024px)";
const TABLET = "(min-width: 640px)";

function subscribe(listener: () => void): () => void {
  const queries = [DESKTOP, TABLET].map((query) => window.matchMedia(query));
  for (const query of queries) query.addEventListener("change", listener);
  return () => {
    for (const query of queries) query.removeEventListener("change", listener);
  };
}

function layout(): Layout {
  if (window.matchMedia(DESKTOP).matches) return "desktop";
  return window.matchMedia(TABLET).matches ? "tablet" : "phone";
}

export function useLayout(): Layout {
  return useSyncExternalStore(subscribe, layout);
}

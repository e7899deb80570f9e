import { useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import type { AppState } from "~/store/store";
import { store } from "./runtime";

/** A narrow selection of the store. The selector must return something held by the store, or a primitive. */
export function useAppState<T>(select: (state: AppState) => T): T {
  return useStore(store, select);
}

/** A selection that builds an array or object of held things: compared one level deep. */
export function useAppSelection<T>(select: (state: AppState) => T): T {
  return useStore(store, useShallow(select));
}

/** Pages of this browser that live now, so that none takes up what another one is at. */

const LOCK = "flightstrip.page.";

/** This page. Not a UUID: browsers make those only where the connection is secure. */
export const PAGE = `${Date.now()}-${Math.random()}`;

/** Held as long as the page lives; where the browser has no locks every page believes that it is alone. */
export function holdPage(): void {
  void navigator.locks?.request(LOCK + PAGE, () => new Promise(() => undefined));
}

/** The other pages that live now. */
export async function otherPages(): Promise<ReadonlySet<string>> {
  const held = (await navigator.locks?.query())?.held ?? [];
  const pages = held.flatMap(({ name }) => (name?.startsWith(LOCK) ? [name.slice(LOCK.length)] : []));
  return new Set(pages.filter((page) => page !== PAGE));
}

import { useEffect } from "react";
import { useNeedsYouCount } from "~/features/switcher/use-row-list";
import { usePlace } from "~/places/use-place";
import { taskOf } from "~/store/tasks";
import { useAppState } from "./use-app-state";

const ICON_PX = 64;
/** A badge has room for two figures. */
const MOST_SHOWN = 99;

/** Title and favicon carry the number of tasks that need a person: a tab in the background tells as much. */
export function usePageSign(): void {
  const count = useNeedsYouCount();
  const place = usePlace();
  const taskId = place.kind === "task" ? place.taskId : "";
  const title = useAppState((state) => taskOf(state.tasks, taskId)?.title);
  useEffect(() => {
    const name = title === undefined ? "flightstrip" : `${title} · flightstrip`;
    document.title = count === 0 ? name : `(${count}) ${name}`;
  }, [count, title]);
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (link) link.href = iconAddress(count);
  }, [count]);
}

function iconAddress(count: number): string {
  const badge =
    count === 0
      ? ""
      : `<circle cx="22" cy="10" r="10" fill="#d9480f"/><text x="22" y="15" text-anchor="middle" font-family="sans-serif" font-weight="700" font-size="${count > 9 ? 12 : 15}" fill="#fff">${Math.min(count, MOST_SHOWN)}</text>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${ICON_PX}" height="${ICON_PX}" viewBox="0 0 32 32"><rect x="2" y="6" width="28" height="20" rx="5" fill="#0f6fde"/><path d="M2 11a5 5 0 0 1 5-5h3v20H7a5 5 0 0 1-5-5z" fill="#f08c00"/>${badge}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

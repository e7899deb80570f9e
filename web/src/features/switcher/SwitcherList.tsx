import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { walkTo } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { useLayout } from "~/app/use-layout";
import { type ListGroup, type ListItem, listItems } from "~/rows/row-list";
import { type MenuPoint, TaskRow } from "./TaskRow";
import { TaskRowMenu } from "./TaskRowMenu";

const GROUP_PX = 36;
const ROW_PX = { desktop: 56, tablet: 56, phone: 66 } as const;
/** Rows drawn beyond the visible ones, so that a fast scroll shows no holes. */
const OVERSCAN = 8;

interface SwitcherListProps {
  groups: ListGroup[];
  workspaceId: string;
  openTaskId: string | undefined;
  onOpened(): void;
}

export function SwitcherList({ groups, workspaceId, openTaskId, onOpened }: SwitcherListProps) {
  const layout = useLayout();
  const scroller = useRef<HTMLDivElement>(null);
  const walked = useAppState((state) => state.ui.walked);
  const [menu, setMenu] = useState<MenuPoint>();
  const items = useMemo(() => listItems(groups), [groups]);
  // Stable functions: a new one makes the virtualiser measure every row again, on every scroll.
  const sizeOf = useCallback(
    (index: number) => (items[index]?.kind === "group" ? GROUP_PX : ROW_PX[layout]),
    [items, layout],
  );
  const keyAt = useCallback((index: number) => keyOf(items[index]), [items]);
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: sizeOf,
    getItemKey: keyAt,
    overscan: OVERSCAN,
    paddingEnd: 12,
  });
  const walkedIndex = items.findIndex((item) => item.kind === "row" && item.id === walked);
  useEffect(() => {
    if (walkedIndex >= 0) virtualizer.scrollToIndex(walkedIndex, { align: "auto" });
  }, [walkedIndex, virtualizer]);

  return (
    <div
      ref={scroller}
      onPointerMove={() => walked !== undefined && walkTo(undefined)}
      className="relative min-h-0 flex-1 overflow-y-auto overscroll-contain px-2"
    >
      <ul aria-label="Tasks" className="relative" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, key, start, size }) => {
          const item = items[index];
          if (!item) return null;
          return (
            <li
              key={key}
              className="absolute inset-x-0 py-px"
              style={{ transform: `translateY(${start}px)`, height: size }}
            >
              {item.kind === "group" ? (
                <GroupHeading group={item.group} />
              ) : (
                <TaskRow
                  taskId={item.id}
                  workspaceId={workspaceId}
                  open={item.id === openTaskId}
                  walked={item.id === walked}
                  onMenu={setMenu}
                  onOpened={onOpened}
                />
              )}
            </li>
          );
        })}
      </ul>
      {menu && <TaskRowMenu point={menu} onClose={() => setMenu(undefined)} />}
    </div>
  );
}

function keyOf(item: ListItem | undefined): string {
  if (!item) return "";
  return item.kind === "group" ? `group ${item.group.key}` : `${item.groupKey} ${item.id}`;
}

function GroupHeading({ group }: { group: ListGroup }) {
  return (
    <h2
      className={`flex h-full items-end gap-2 px-2 pb-1.5 font-semibold text-xs ${group.urgent ? "text-ask" : "text-muted"}`}
    >
      {group.label}
      <span
        className={
          group.urgent
            ? "num min-w-4.5 rounded-full bg-ask px-1.5 text-center text-[11px] text-surface leading-4.5"
            : "num font-medium text-faint leading-4.5"
        }
      >
        {group.ids.length}
      </span>
    </h2>
  );
}

import type { ReactNode } from "react";

interface EmptyStateProps {
  icon: ReactNode;
  title: string;
  /** Of the heading: 1 when this is all that the page has. */
  level?: 1 | 2;
  children?: ReactNode;
  action?: ReactNode;
}

/** What a list or pane says when it has nothing to show, and what to do about it. */
export function EmptyState({ icon, title, level = 2, children, action }: EmptyStateProps) {
  const Heading = level === 1 ? "h1" : "h2";
  return (
    <div className="m-auto flex max-w-80 flex-col items-center gap-2 px-6 py-10 text-center">
      <span className="mb-1 grid size-11 place-items-center rounded-2xl bg-sunken text-faint">{icon}</span>
      <Heading className="font-semibold text-[15px]">{title}</Heading>
      {children && <div className="text-[13px] text-muted">{children}</div>}
      {action && <div className="mt-3 flex gap-2">{action}</div>}
    </div>
  );
}

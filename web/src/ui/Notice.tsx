import { CircleAlert, Info } from "lucide-react";
import type { ReactNode } from "react";

interface NoticeProps {
  tone: "error" | "ask" | "work";
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

/** Something to know, in place: what happened, to what, and what to do. */
export function Notice({ tone, title, children, action }: NoticeProps) {
  const Icon = tone === "work" ? Info : CircleAlert;
  return (
    <div
      role={tone === "error" ? "alert" : "status"}
      data-tone={tone}
      className="flex items-start gap-2.5 rounded-xl border border-tone/30 bg-tone-soft px-3.5 py-2.5 text-[13px]"
    >
      <Icon size={16} className="mt-0.5 text-tone" />
      <div className="min-w-0 flex-1">
        <p className="break-words font-medium">{title}</p>
        {children && <div className="mt-0.5 break-words text-muted">{children}</div>}
      </div>
      {action}
    </div>
  );
}

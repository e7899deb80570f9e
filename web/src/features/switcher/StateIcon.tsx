import {
  Ban,
  Circle,
  CircleCheck,
  CircleCheckBig,
  CircleDashed,
  CircleDot,
  CirclePause,
  CircleX,
  type LucideIcon,
  MessageCircleQuestionMark,
  OctagonAlert,
  ShieldQuestionMark,
  Unplug,
} from "lucide-react";
import type { RowState } from "~/wire/generated/RowState";

const ICON: Record<RowState, LucideIcon> = {
  permission: ShieldQuestionMark,
  clarification: MessageCircleQuestionMark,
  generating: CircleDashed,
  background: CircleDashed,
  waiting_for_input: CirclePause,
  preparing: CircleDashed,
  in_progress: CircleDot,
  failed: CircleX,
  cancelled: Ban,
  blocked: OctagonAlert,
  interrupted: Unplug,
  complete: CircleCheckBig,
  turn_finished: CircleCheck,
  backlog: Circle,
};

const MOTION: Partial<Record<RowState, string>> = {
  generating: "animate-turn",
  background: "animate-turn [animation-duration:3.2s]",
  preparing: "animate-breathe",
};

/** The icon of a state. Its name stands beside it in words, so the picture itself is not read out. */
export function StateIcon({ state, size = 16 }: { state: RowState; size?: number }) {
  const Icon = ICON[state];
  return <Icon aria-hidden="true" size={size} strokeWidth={2.1} className={MOTION[state] ?? ""} />;
}

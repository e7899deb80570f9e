import {
  ArrowDownToLine,
  GitMerge,
  GitPullRequest,
  GitPullRequestClosed,
  GitPullRequestDraft,
  Zap,
} from "lucide-react";
import { PULL_REQUEST_NAME, PULL_REQUEST_TONE } from "~/rows/row-words";
import { Tooltip } from "~/ui/Tooltip";
import type { PullRequestSummary } from "~/wire/generated/PullRequestSummary";

const ICON = { merged: GitMerge, draft: GitPullRequestDraft, closed: GitPullRequestClosed } as const;

/** The linked pull requests as one: number, state, and whether something acts on them by itself. */
export function PullRequestChip({ pullRequest }: { pullRequest: PullRequestSummary }) {
  const { aggregate_state: state, count, number, auto_fix, auto_merge } = pullRequest;
  const Icon = state in ICON ? ICON[state as keyof typeof ICON] : GitPullRequest;
  const words = [
    `Pull request ${number}: ${PULL_REQUEST_NAME[state]}`,
    count > 1 ? `${count} linked` : "",
    auto_fix ? "auto-fix on" : "",
    auto_merge ? "auto-merge on" : "",
  ].filter(Boolean);
  return (
    <Tooltip text={words.join(" · ")}>
      <span
        role="img"
        aria-label={words.join(", ")}
        data-tone={PULL_REQUEST_TONE[state]}
        className="num inline-flex items-center gap-1 text-tone text-xs"
      >
        <Icon size={13} />#{number}
        {count > 1 && <span className="text-faint">+{count - 1}</span>}
        {auto_fix && <Zap size={11} />}
        {auto_merge && <ArrowDownToLine size={11} />}
      </span>
    </Tooltip>
  );
}

import { useState } from "react";
import { attempt } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { openDialog } from "~/app/ui-actions";
import { RECOVERY_NAME } from "~/rows/row-words";
import { Button } from "~/ui/Button";
import type { ActiveError } from "~/wire/generated/ActiveError";
import type { RecoveryAction } from "~/wire/generated/RecoveryAction";

/** What can be done about an error, and putting it away where that is allowed. */
export function RecoveryButtons({ taskId, error }: { taskId: string; error: ActiveError }) {
  const [busy, setBusy] = useState<RecoveryAction>();
  const recover = async (action: RecoveryAction) => {
    if (action === "pick_base_branch") {
      openDialog({ kind: "pick_base_branch", taskId, stamp: error.stamp });
      return;
    }
    setBusy(action);
    await attempt("Recovery did not start", commands.recover(taskId, error.stamp, action));
    setBusy(undefined);
  };
  const dismiss = () =>
    void attempt("The error was not dismissed", commands.dismissError(taskId, error.stamp));
  return (
    <div className="flex shrink-0 flex-wrap gap-2">
      {error.recovery_actions?.map((action) => (
        <Button key={action} size="small" busy={busy === action} onClick={() => void recover(action)}>
          {RECOVERY_NAME[action]}
        </Button>
      ))}
      {error.session_id !== undefined && (
        <Button size="small" look="quiet" onClick={dismiss}>
          Dismiss
        </Button>
      )}
    </div>
  );
}

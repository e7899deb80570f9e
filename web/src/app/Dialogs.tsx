import { NewTaskDialog } from "~/features/new-task/NewTaskDialog";
import { KeysDialog } from "~/features/palette/KeysDialog";
import { Palette } from "~/features/palette/Palette";
import { SignOutDialog } from "~/features/settings/SignOutDialog";
import { DeleteSessionDialog, DeleteTaskDialog } from "~/features/task/DeleteDialog";
import { MergeDialog } from "~/features/task/MergeDialog";
import { PickBaseBranchDialog } from "~/features/task/PickBaseBranchDialog";
import { RenameSessionDialog, RenameTaskDialog } from "~/features/task/RenameDialog";
import { useAppState } from "./use-app-state";

/** The one dialog that is open, if any. */
export function Dialogs() {
  const dialog = useAppState((state) => state.ui.dialog);
  switch (dialog?.kind) {
    case "new_task":
      return <NewTaskDialog />;
    case "keys":
      return <KeysDialog />;
    case "palette":
      return <Palette />;
    case "rename_task":
      return <RenameTaskDialog taskId={dialog.taskId} />;
    case "delete_task":
      return <DeleteTaskDialog taskId={dialog.taskId} uncommitted={dialog.uncommitted} />;
    case "rename_session":
      return <RenameSessionDialog sessionId={dialog.sessionId} />;
    case "delete_session":
      return <DeleteSessionDialog sessionId={dialog.sessionId} />;
    case "merge":
      return <MergeDialog taskId={dialog.taskId} />;
    case "pick_base_branch":
      return <PickBaseBranchDialog taskId={dialog.taskId} stamp={dialog.stamp} />;
    case "sign_out":
      return <SignOutDialog />;
    case undefined:
      return null;
  }
}

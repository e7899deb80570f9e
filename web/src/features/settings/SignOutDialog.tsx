import { useState } from "react";
import { client } from "~/app/runtime";
import { closeDialog, openDialog } from "~/app/ui-actions";
import { counted } from "~/format/numbers";
import { type Unsent, unsent } from "~/socket/kept-files";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";

/** Signs out at once, or asks first when messages would be lost by it. */
export function signOut(): void {
  if (unsent().count > 0) openDialog({ kind: "sign_out" });
  else void client.signOut();
}

/** Messages that have not reached the server go with a sign-out: that is the person's to say. */
export function SignOutDialog() {
  const [lost] = useState(unsent);
  const [busy, setBusy] = useState(false);
  const leave = () => {
    setBusy(true);
    void client.signOut();
  };
  return (
    <Dialog
      title="Sign out?"
      width="sm:w-110"
      onClose={closeDialog}
      footer={
        <>
          <Button onClick={closeDialog}>Stay signed in</Button>
          <Button look="danger" busy={busy} onClick={leave}>
            Sign out
          </Button>
        </>
      }
    >
      <p className="text-[13.5px]">{lossWords(lost)}</p>
    </Dialog>
  );
}

function lossWords({ count, sure }: Unsent): string {
  const messages = counted(count, "message");
  const has = count === 1 ? "has" : "have";
  const fate = sure ? `${has} not reached the server` : "may not have reached the server";
  return `${messages} ${fate}. Sign out and lose ${count === 1 ? "it" : "them"}?`;
}

import { Keyboard, LogOut } from "lucide-react";
import { openDialog } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { BrandMark } from "~/features/switcher/BrandMark";
import { Button } from "~/ui/Button";
import { signOut } from "./SignOutDialog";

export function AboutSection() {
  const version = useAppState((state) => state.workspaces.version);
  const user = useAppState((state) => state.workspaces.user?.name);
  return (
    <div className="flex flex-col gap-5 text-[13.5px]">
      <div className="flex items-center gap-3.5">
        <BrandMark className="h-9 w-12" />
        <div>
          <p className="font-semibold text-base">flightstrip</p>
          <p className="num text-muted">Version {version}</p>
        </div>
      </div>
      <p className="max-w-prose text-muted">
        Named after the paper strips of air traffic control: one narrow strip per flight, a few fixed fields,
        and nobody listens to twenty radios at once.
      </p>
      <p className="text-muted">
        Signed in as {user}. Whoever is signed in can run code as the server's user. Signing out also forgets
        what this browser keeps of your work: drafts, answers begun, and messages that are not sent.
      </p>
      <div className="flex gap-2">
        <Button onClick={() => openDialog({ kind: "keys" })}>
          <Keyboard size={15} /> Keyboard shortcuts
        </Button>
        <Button onClick={signOut}>
          <LogOut size={15} /> Sign out
        </Button>
      </div>
    </div>
  );
}

import { Tooltip } from "radix-ui";
import { SignInView } from "~/features/sign-in/SignInView";
import { ErrorBoundary } from "~/ui/ErrorBoundary";
import { Shell } from "./Shell";
import { Toasts } from "./Toasts";
import { useAppState } from "./use-app-state";

/** Long enough that a pointer on its way does not raise hints. */
const HINT_AFTER_MS = 350;

export function App() {
  const signedIn = useAppState((state) => state.signIn.phase === "signed_in");
  return (
    <Tooltip.Provider delayDuration={HINT_AFTER_MS}>
      <ErrorBoundary>{signedIn ? <Shell /> : <SignInView />}</ErrorBoundary>
      <Toasts />
    </Tooltip.Provider>
  );
}

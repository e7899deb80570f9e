import { Unplug } from "lucide-react";
import { Component, type ReactNode } from "react";
import { Button } from "./Button";
import { EmptyState } from "./EmptyState";

interface ErrorBoundaryProps {
  children: ReactNode;
}

/** Keeps what fails in one part of the page from taking the rest with it; React itself writes the error to the console. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    return this.state.failed ? <Failed /> : this.props.children;
  }
}

/** The likeliest cause is a server that was updated under an open page, so that a part of the page is gone. */
function Failed() {
  return (
    <div role="alert" className="flex flex-1">
      <EmptyState
        icon={<Unplug size={20} />}
        title="This part of the page failed"
        action={<Button onClick={() => window.location.reload()}>Reload the page</Button>}
      >
        Nothing is lost. The server may have been updated since this page was loaded.
      </EmptyState>
    </div>
  );
}

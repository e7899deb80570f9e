import { CircleAlert, CircleCheck, Info, X } from "lucide-react";
import { Toast as Radix } from "radix-ui";
import { change } from "~/store/store";
import { removeToast, type Toast } from "~/store/ui";
import { Button } from "~/ui/Button";
import { store } from "./runtime";
import { useAppState } from "./use-app-state";

const ICON = { error: CircleAlert, success: CircleCheck, info: Info } as const;
const TONE = { error: "error", success: "review", info: "work" } as const;
/** Errors stay long enough to be read to the end. */
const STAY_MS = { error: 12_000, success: 4_000, info: 5_000 } as const;
/** One that offers something stays until a person can have taken it. */
const OFFER_MS = 10_000;

export function Toasts() {
  const toasts = useAppState((state) => state.ui.toasts);
  return (
    <Radix.Provider swipeDirection="right">
      {toasts.map((toast) => (
        <ToastView key={toast.id} toast={toast} />
      ))}
      <Radix.Viewport
        label="Notices ({hotkey})"
        className="fixed right-4 bottom-4 z-60 flex w-90 max-w-[calc(100vw-24px)] flex-col gap-2 outline-none max-sm:inset-x-3 max-sm:top-[calc(env(safe-area-inset-top)+64px)] max-sm:bottom-auto max-sm:w-auto"
      />
    </Radix.Provider>
  );
}

function ToastView({ toast }: { toast: Toast }) {
  const Icon = ICON[toast.tone];
  const close = () => change(store, (draft) => removeToast(draft.ui, toast.id));
  return (
    <Radix.Root
      duration={toast.action ? OFFER_MS : STAY_MS[toast.tone]}
      type={toast.tone === "error" ? "foreground" : "background"}
      onOpenChange={(open) => !open && close()}
      data-tone={TONE[toast.tone]}
      className="flex animate-rise items-start gap-2.5 rounded-xl bg-raised py-3 pr-2 pl-3.5 text-[13px] shadow-float"
    >
      <Icon size={17} className="mt-px text-tone" />
      <div className="min-w-0 flex-1">
        <Radix.Title className="font-medium">{toast.title}</Radix.Title>
        {toast.detail && (
          <Radix.Description className="mt-0.5 line-clamp-5 break-words text-muted">
            {toast.detail}
          </Radix.Description>
        )}
      </div>
      {toast.action && (
        <Radix.Action asChild altText={toast.action.label}>
          <Button size="small" onClick={toast.action.run}>
            {toast.action.label}
          </Button>
        </Radix.Action>
      )}
      <Radix.Close
        aria-label="Close notice"
        className="grid size-7 place-items-center rounded-md text-faint hover:bg-hover"
      >
        <X size={14} />
      </Radix.Close>
    </Radix.Root>
  );
}

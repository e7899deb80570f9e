import { File as FileIcon, FileWarning, RotateCw, X } from "lucide-react";
import { useEffect } from "react";
import { commands } from "~/app/runtime";
import { useAppSelection } from "~/app/use-app-state";
import { bytes } from "~/format/numbers";
import { type Upload, uploadsOf } from "~/store/uploads";
import { drawThumbnail } from "./add-files";

const NOTHING: readonly string[] = [];

/** The files that will go with the message: name, size, how far they are, and what went wrong. */
export function AttachmentChips({ sessionId }: { sessionId: string }) {
  const uploads = useAppSelection((state) =>
    uploadsOf(state.uploads, state.uploads.fields[sessionId] ?? NOTHING),
  );
  if (uploads.length === 0) return null;
  return (
    <ul aria-label="Attached files" className="flex max-h-44 flex-wrap gap-1.5 overflow-y-auto p-2.5 pb-0">
      {uploads.map((upload) => (
        <Chip key={upload.id} upload={upload} sessionId={sessionId} />
      ))}
    </ul>
  );
}

function Chip({ upload, sessionId }: { upload: Upload; sessionId: string }) {
  const { id, name, size, state, problem } = upload;
  useEffect(() => void drawThumbnail(id), [id]);
  const wrong = state === "failed" || state === "unfit";
  return (
    <li
      className={`relative flex max-w-full items-center gap-2 overflow-hidden rounded-lg border pl-1.5 text-[13px] max-sm:w-full ${
        wrong ? "border-error/50 bg-error-soft" : "border-line bg-sunken"
      }`}
    >
      <Picture upload={upload} />
      <span className="min-w-0 flex-1 py-1 leading-tight">
        <span className="block max-w-52 truncate font-medium max-sm:max-w-none">{name}</span>
        {wrong ? (
          <span role="alert" className="block max-w-64 break-words text-error text-xs">
            {problem}
          </span>
        ) : (
          <span className="num block text-muted text-xs">
            {state === "uploading" ? `${percent(upload)} of ${bytes(size)}` : bytes(size)}
          </span>
        )}
      </span>
      {state === "failed" && (
        <ChipButton label={`Upload ${name} again`} onClick={() => commands.uploads.retry(sessionId, id)}>
          <RotateCw size={14} />
        </ChipButton>
      )}
      <ChipButton label={`Remove ${name}`} onClick={() => commands.uploads.remove(sessionId, id)}>
        <X size={14} />
      </ChipButton>
      {state === "uploading" && (
        <progress
          aria-label={`Uploading ${name}`}
          value={upload.sent}
          max={Math.max(1, size)}
          className="absolute inset-x-0 bottom-0 h-0.75 w-full appearance-none [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent"
        />
      )}
    </li>
  );
}

function Picture({ upload }: { upload: Upload }) {
  if (upload.thumbnail !== undefined) {
    return <img src={upload.thumbnail} alt="" className="size-8 shrink-0 rounded-md object-cover" />;
  }
  const wrong = upload.state === "failed" || upload.state === "unfit";
  const Icon = wrong ? FileWarning : FileIcon;
  return (
    <span className="grid size-8 shrink-0 place-items-center rounded-md bg-surface text-muted">
      <Icon size={16} className={wrong ? "text-error" : ""} />
    </span>
  );
}

interface ChipButtonProps {
  label: string;
  onClick(): void;
  children: React.ReactNode;
}

function ChipButton({ label, onClick, children }: ChipButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={onClick}
      className="grid size-8 shrink-0 place-items-center rounded-md text-muted hover:bg-hover hover:text-text max-sm:size-11"
    >
      {children}
    </button>
  );
}

function percent({ sent, size }: Upload): string {
  // The last step is the server's: it is whole only when it says so.
  return `${Math.min(99, Math.floor((100 * sent) / Math.max(1, size)))} %`;
}

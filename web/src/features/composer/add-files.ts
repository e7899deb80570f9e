import { attempt, notify } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { FILES_PER_MESSAGE } from "~/store/uploads";
import type { Session } from "~/wire/generated/Session";
import { makeThumbnail } from "./thumbnail";

/** Adds files to the message field of a session, and says so when there is no room for all of them. */
export function addFiles(session: Pick<Session, "id" | "task_id">, files: readonly File[]): void {
  if (files.length === 0) return;
  const left = commands.uploads.add(session.task_id, session.id, files);
  if (left > 0) {
    const others = left === 1 ? "One file was left out." : `${left} files were left out.`;
    notify("error", `A message takes ${FILES_PER_MESSAGE} files at most`, others);
  }
}

/** Draws a small picture of an image, once. A file that cannot be drawn keeps its symbol. */
export async function drawThumbnail(uploadId: string): Promise<void> {
  const file = commands.uploads.fileOf(uploadId);
  const thumbnail = file && (await makeThumbnail(file));
  if (thumbnail) commands.uploads.setThumbnail(uploadId, thumbnail);
}

/** Brings a stored file to the person's own machine. */
export function download(attachment: { id: string; name: string }): void {
  void attempt(`${attachment.name} did not come`, commands.uploads.save(attachment.id, attachment.name));
}

/** One file by HTTP. `fetch` tells nothing of what has left the page, so this asks the older interface. */
import { sentence } from "~/format/sentence";
import type { Attachment } from "~/wire/generated/Attachment";
import type { Uploaded } from "~/wire/generated/Uploaded";
import { readSecret } from "./secret";

/** A file that moves no byte for so long has lost its connection. */
const STALL_MS = 30_000;
const HTTP_CREATED = 201;

/** Why a file is not there, in words for the person. */
export class UploadFailed extends Error {
  override name = "UploadFailed";
}

export function attachmentAddress(id: string): string {
  return `/api/v1/attachments/${encodeURIComponent(id)}`;
}

/** Sends the bytes; `onSent` hears how many have left. Ends early when `signal` says so. */
export function uploadFile(
  taskId: string,
  file: File,
  onSent: (bytes: number) => void,
  signal: AbortSignal,
): Promise<Attachment> {
  const query = new URLSearchParams({ task_id: taskId, name: file.name });
  const request = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    let stall: ReturnType<typeof setTimeout> | undefined;
    const alive = () => {
      clearTimeout(stall);
      stall = setTimeout(() => request.abort(), STALL_MS);
    };
    const fail = (words: string) => () => {
      clearTimeout(stall);
      reject(new UploadFailed(words));
    };
    request.open("POST", `/api/v1/attachments?${query}`);
    request.setRequestHeader("authorization", `Bearer ${readSecret() ?? ""}`);
    request.setRequestHeader("content-type", file.type || "application/octet-stream");
    request.upload.onprogress = (event) => {
      alive();
      onSent(event.loaded);
    };
    request.onload = () => {
      clearTimeout(stall);
      const uploaded = answerOf(request);
      if (typeof uploaded === "string") reject(new UploadFailed(uploaded));
      else resolve(uploaded);
    };
    request.onerror = fail("There is no connection to the server.");
    request.onabort = fail("The server did not take it in time.");
    signal.addEventListener("abort", () => request.abort());
    alive();
    request.send(file);
  });
}

/** The stored file, or why there is none. */
function answerOf(request: XMLHttpRequest): Attachment | string {
  try {
    const body: unknown = JSON.parse(request.responseText);
    if (request.status === HTTP_CREATED) return (body as Uploaded).attachment;
    const { message } = body as { message?: unknown };
    if (typeof message === "string") return sentence(message);
  } catch {
    // Something between here and the server answered; its page says nothing to a person.
  }
  return `The server answered ${request.status}.`;
}

/** The bytes of a stored file. */
export async function fetchAttachment(id: string): Promise<Blob> {
  const headers = { authorization: `Bearer ${readSecret() ?? ""}` };
  const answer = await fetch(attachmentAddress(id), { headers });
  if (!answer.ok)
    throw new Error(
      answer.status === 404 ? "It is not there any more." : `The server answered ${answer.status}.`,
    );
  return answer.blob();
}

/** Takes back a file that no message has. One that stays is let go by the server after a while. */
export async function discardAttachment(id: string): Promise<void> {
  const headers = { authorization: `Bearer ${readSecret() ?? ""}` };
  await fetch(attachmentAddress(id), { method: "DELETE", headers }).catch(() => undefined);
}

/**
 * Files on their way from this page to the server, before a message has them.
 *
 * Invariant: a file belongs to one message field or to one send, never to both; it is named by an id of this page,
 * and by the server's once it is there.
 */
import type { Attachment } from "~/wire/generated/Attachment";
import { emptyRecord } from "./records";

/** Files of one message, and bytes of one file; the server refuses more. */
export const FILES_PER_MESSAGE = 10;
export const FILE_BYTES = 10 * 1024 * 1024;

export interface Upload {
  id: string;
  name: string;
  size: number;
  /** `unfit` cannot succeed by trying again. */
  state: "uploading" | "ready" | "failed" | "unfit";
  /** Bytes that left this page. */
  sent: number;
  problem: string | undefined;
  attachment: Attachment | undefined;
  /** A small picture of it, as an address. */
  thumbnail: string | undefined;
}

export interface UploadsState {
  byId: Record<string, Upload>;
  /** Files in the message field of a session, in the order in which they were added. */
  fields: Record<string, string[]>;
}

export const initialUploads: UploadsState = { byId: emptyRecord(), fields: emptyRecord() };

export function newUpload(id: string, file: { name: string; size: number }): Upload {
  const fits = file.size <= FILE_BYTES;
  return {
    id,
    name: file.name,
    size: file.size,
    state: fits ? "uploading" : "unfit",
    sent: 0,
    problem: fits ? undefined : "Larger than 10 MiB.",
    attachment: undefined,
    thumbnail: undefined,
  };
}

/** One that the server has already, kept from before a reload. */
export function keptUpload(attachment: Attachment): Upload {
  const { id, name, size } = attachment;
  return {
    id,
    name,
    size,
    state: "ready",
    sent: size,
    problem: undefined,
    attachment,
    thumbnail: undefined,
  };
}

export function addToField(state: UploadsState, sessionId: string, upload: Upload): void {
  state.byId[upload.id] = upload;
  state.fields[sessionId] = [...(state.fields[sessionId] ?? []), upload.id];
}

export function changeUpload(state: UploadsState, id: string, part: Partial<Upload>): void {
  const held = state.byId[id];
  if (held) Object.assign(held, part);
}

/** The files leave the field with a message that is being sent; those that cannot be sent go. */
export function takeFromField(state: UploadsState, sessionId: string): string[] {
  const taken = state.fields[sessionId] ?? [];
  state.fields[sessionId] = [];
  for (const id of taken) if (state.byId[id]?.state === "unfit") delete state.byId[id];
  return taken.filter((id) => state.byId[id] !== undefined);
}

export function forgetUpload(state: UploadsState, id: string): void {
  delete state.byId[id];
  for (const [sessionId, ids] of Object.entries(state.fields)) {
    if (ids.includes(id)) state.fields[sessionId] = ids.filter((other) => other !== id);
  }
}

export function uploadsOf(state: UploadsState, ids: readonly string[]): Upload[] {
  return ids.map((id) => state.byId[id]).filter((upload) => upload !== undefined);
}

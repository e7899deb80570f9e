/**
 * Files of messages that are written or being sent on this page. An upload goes on whatever is on screen; a file that
 * is there keeps its id, however often its message is tried.
 */
import { type AppStore, change } from "~/store/store";
import {
  addToField,
  changeUpload,
  FILES_PER_MESSAGE,
  forgetUpload,
  keptUpload,
  newUpload,
  takeFromField,
  type Upload,
  uploadsOf,
} from "~/store/uploads";
import type { Attachment } from "~/wire/generated/Attachment";
import { keepFiles, readFiles } from "./kept-files";
import { discardAttachment, fetchAttachment, UploadFailed, uploadFile } from "./upload-file";

/** Files on their way at once: the server takes one more of a person, for another page of theirs. */
const AT_ONCE = 2;

/** By then the browser has begun to write it. */
const DOWNLOAD_BEGINS_MS = 60_000;

interface Running {
  taskId: string;
  file: File;
  abort: AbortController;
  /** Settles with the upload; never rejects. */
  done: Promise<void>;
}

type SendFile = typeof uploadFile;

export class Uploads {
  private readonly running = new Map<string, Running>();
  private sending = 0;
  /** Those whose turn it is when one of the others is there. */
  private readonly waiting: (() => void)[] = [];

  /** `send` puts one file on the server. */
  constructor(
    private readonly store: AppStore,
    private readonly send: SendFile = uploadFile,
    private readonly newId: () => string = () => crypto.randomUUID(),
  ) {}

  /** Adds files to the message field of a session. Returns how many found no room. */
  add(taskId: string, sessionId: string, files: readonly File[]): number {
    const room = FILES_PER_MESSAGE - (this.store.getState().uploads.fields[sessionId]?.length ?? 0);
    for (const file of files.slice(0, Math.max(0, room))) {
      const upload = newUpload(this.newId(), file);
      change(this.store, (draft) => addToField(draft.uploads, sessionId, upload));
      if (upload.state === "uploading") this.start(taskId, sessionId, upload.id, file);
    }
    return Math.max(0, files.length - Math.max(0, room));
  }

  /** Brings back what the message field held before the page was loaded. */
  restore(sessionId: string): void {
    if (this.store.getState().uploads.fields[sessionId] !== undefined) return;
    const kept = readFiles(sessionId);
    change(this.store, (draft) => {
      draft.uploads.fields[sessionId] = [];
      for (const attachment of kept) addToField(draft.uploads, sessionId, keptUpload(attachment));
    });
  }

  /** Puts files that the server has back into the field. */
  putBack(sessionId: string, ids: readonly string[]): void {
    change(this.store, (draft) => {
      for (const upload of uploadsOf(draft.uploads, ids)) addToField(draft.uploads, sessionId, upload);
    });
    this.keep(sessionId);
  }

  /** Makes files known that the server has, for a message that was being sent before a reload. */
  adopt(attachments: readonly Attachment[]): string[] {
    change(this.store, (draft) => {
      for (const attachment of attachments) draft.uploads.byId[attachment.id] ??= keptUpload(attachment);
    });
    return attachments.map(({ id }) => id);
  }

  retry(sessionId: string, id: string): void {
    const running = this.running.get(id);
    if (running && this.upload(id)?.state === "failed")
      this.start(running.taskId, sessionId, id, running.file);
  }

  /** Takes a file back. */
  remove(sessionId: string, id: string): void {
    this.running.get(id)?.abort.abort();
    this.running.delete(id);
    const attachment = this.upload(id)?.attachment;
    if (attachment) void discardAttachment(attachment.id);
    change(this.store, (draft) => forgetUpload(draft.uploads, id));
    this.keep(sessionId);
  }

  /** The files of the field go with a message. */
  take(sessionId: string): string[] {
    let taken: string[] = [];
    change(this.store, (draft) => {
      taken = takeFromField(draft.uploads, sessionId);
    });
    this.keep(sessionId);
    return taken;
  }

  /** Waits for these files, trying again those that failed. Fails in words that name the first that is not there. */
  async ready(sessionId: string, ids: readonly string[]): Promise<Attachment[]> {
    for (const id of ids) this.retry(sessionId, id);
    await Promise.all(ids.map((id) => this.running.get(id)?.done));
    return ids.map((id) => {
      const upload = this.upload(id);
      if (upload?.attachment) return upload.attachment;
      const name = upload === undefined ? "A file" : `The file ${upload.name}`;
      throw new UploadFailed(`${name} was not uploaded. ${upload?.problem ?? ""}`.trim());
    });
  }

  /** The message of these files is stored: nothing of them is kept here. */
  forget(ids: readonly string[]): void {
    for (const id of ids) this.running.delete(id);
    change(this.store, (draft) => {
      for (const id of ids) forgetUpload(draft.uploads, id);
    });
  }

  setThumbnail(id: string, thumbnail: string): void {
    change(this.store, (draft) => changeUpload(draft.uploads, id, { thumbnail }));
  }

  /** The file itself, while this page has it. */
  fileOf(id: string): File | undefined {
    return this.running.get(id)?.file;
  }

  /** Fetches a stored file and hands it to the browser's downloads. */
  async save(attachmentId: string, name: string): Promise<void> {
    const address = URL.createObjectURL(await fetchAttachment(attachmentId));
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), DOWNLOAD_BEGINS_MS);
  }

  private upload(id: string): Upload | undefined {
    return this.store.getState().uploads.byId[id];
  }

  private start(taskId: string, sessionId: string, id: string, file: File): void {
    const abort = new AbortController();
    this.change(id, { state: "uploading", sent: 0, problem: undefined });
    const onSent = (sent: number) => this.change(id, { sent });
    const done = this.inTurn(() => this.send(taskId, file, onSent, abort.signal), abort.signal).then(
      (attachment) => {
        this.change(id, { state: "ready", sent: attachment.size, attachment });
        this.keep(sessionId);
        // Taken back while its last bytes were on the way.
        if (!this.upload(id)) void discardAttachment(attachment.id);
      },
      (failure: unknown) => {
        const problem = failure instanceof UploadFailed ? failure.message : "It did not get through.";
        this.change(id, { state: "failed", problem });
      },
    );
    this.running.set(id, { taskId, file, abort, done });
  }

  private async inTurn<T>(send: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.sending < AT_ONCE) this.sending += 1;
    else await new Promise<void>((turn) => this.waiting.push(turn));
    try {
      signal.throwIfAborted();
      return await send();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.sending -= 1;
    }
  }

  private change(id: string, part: Partial<Upload>): void {
    change(this.store, (draft) => changeUpload(draft.uploads, id, part));
  }

  /** What is there of the field outlives a reload. */
  private keep(sessionId: string): void {
    const { fields, byId } = this.store.getState().uploads;
    const held = (fields[sessionId] ?? []).map((id) => byId[id]?.attachment);
    keepFiles(
      sessionId,
      held.filter((attachment) => attachment !== undefined),
    );
  }
}

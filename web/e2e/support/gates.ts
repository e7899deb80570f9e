import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Files outside every worktree: an agent stops at `/wait-file` until the test opens the gate. */
export class Gates {
  private constructor(readonly folder: string) {}

  static async create(): Promise<Gates> {
    return new Gates(await mkdtemp(join(tmpdir(), "flightstrip-gates-")));
  }

  /** The directive that waits for the gate of this name. */
  wait(name: string): string {
    return `/wait-file ${join(this.folder, name)}`;
  }

  async open(name: string): Promise<void> {
    await writeFile(join(this.folder, name), "");
  }

  async dispose(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

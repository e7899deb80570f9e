import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A real Git repository with one commit on `main`. */
export class TestRepository {
  private constructor(
    readonly path: string,
    private readonly parent: string,
  ) {}

  static async create(name: string, files: Record<string, string>): Promise<TestRepository> {
    const parent = await mkdtemp(join(tmpdir(), "flightstrip-repo-"));
    const repository = new TestRepository(join(parent, name), parent);
    await mkdir(repository.path);
    await repository.git("init", "--initial-branch", "main");
    await repository.git("config", "user.name", "Test");
    await repository.git("config", "user.email", "test@example.test");
    for (const [path, content] of Object.entries(files)) await repository.write(path, content);
    await repository.git("add", "--all");
    await repository.git("commit", "--message", "first");
    return repository;
  }

  async git(...args: string[]): Promise<string> {
    return (await run("git", args, { cwd: this.path })).stdout;
  }

  async write(path: string, content: string): Promise<void> {
    const file = join(this.path, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }

  async dispose(): Promise<void> {
    await rm(this.parent, { recursive: true, force: true });
  }
}

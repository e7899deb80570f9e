import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
/** A debug build migrates and converges well within this. */
const START_MS = 30_000;
const STOP_MS = 20_000;

export interface ServerOptions {
  /** Further flags of `flightstrip serve`. */
  args?: string[];
  env?: Record<string, string>;
}

/** A server of one test, in a data directory of its own. It can be stopped, killed and started again on the same data. */
export class TestServer {
  private child: ChildProcess | undefined;
  private output = "";

  private constructor(
    readonly dataDir: string,
    private readonly options: ServerOptions,
  ) {}

  static async start(options: ServerOptions = {}): Promise<TestServer> {
    const server = new TestServer(await mkdtemp(join(tmpdir(), "flightstrip-e2e-")), options);
    try {
      await server.start();
      return server;
    } catch (failure) {
      await server.dispose();
      throw failure;
    }
  }

  /** Starts, or starts again: on the same port once there was one, so that an open page finds it. */
  async start(): Promise<void> {
    this.output = "";
    const listen = `127.0.0.1:${this.port ?? 0}`;
    const args = ["serve", "--listen", listen, "--data-dir", this.dataDir, ...(this.options.args ?? [])];
    const child = spawn(binary(), args, {
      env: { ...process.env, ...this.options.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child = child;
    let log = "";
    child.stderr.on("data", (text: Buffer) => {
      log += text.toString();
    });
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the server did not start:\n${log}`)), START_MS);
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}:\n${log}`)));
      child.stdout.on("data", (text: Buffer) => {
        this.output += text.toString();
        if (!/https?:\/\/\S+#code=\S+/.test(this.output)) return;
        clearTimeout(timer);
        resolve();
      });
    });
    this.port = Number(new URL(this.printedAddress()).port);
  }

  /** The address that signs one browser in, as the server printed it. It works once. */
  printedAddress(): string {
    const address = /https?:\/\/\S+#code=\S+/.exec(this.output)?.[0];
    if (!address) throw new Error("the server printed no address");
    return address;
  }

  /** A fresh address, asked for as a person would. */
  async signInAddress(): Promise<string> {
    const { stdout } = await run(binary(), ["sign-in", "--data-dir", this.dataDir]);
    const address = /https?:\/\/\S+#code=\S+/.exec(stdout)?.[0];
    if (!address) throw new Error(`no address in: ${stdout}`);
    return address;
  }

  async stop(): Promise<void> {
    await this.end("SIGTERM");
  }

  /** As a crash would. */
  async kill(): Promise<void> {
    await this.end("SIGKILL");
  }

  /** Stops, and removes the data. */
  async dispose(): Promise<void> {
    await this.stop();
    await rm(this.dataDir, { recursive: true, force: true });
  }

  private port: number | undefined;

  private async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const child = this.child;
    this.child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await ended;
    clearTimeout(late);
  }
}

function binary(): string {
  const path = process.env.FLIGHTSTRIP_BIN;
  if (!path) throw new Error("FLIGHTSTRIP_BIN names the server to test");
  return path;
}

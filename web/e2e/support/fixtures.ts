import { test as base, type Page } from "@playwright/test";
import { Api } from "./api.ts";
import { Gates } from "./gates.ts";
import { TestRepository } from "./repository.ts";
import { TestServer } from "./server.ts";

interface Fixtures {
  /** A fresh server; it ends with the test. */
  server: TestServer;
  /** A repository named `sample` with a README. */
  repository: TestRepository;
  /** Another one, named `second`, with three lines in `a.txt`. */
  second: TestRepository;
  /** Files that scripted agents wait for, so that no test waits for time. */
  gates: Gates;
  /** The page, signed in by the printed address. */
  app: Page;
  /** A second client with `repository` registered, for what a test does not prove by hand. */
  api: Api;
}

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures from the pattern.
  server: async ({}, use) => {
    const server = await TestServer.start({
      // How many agents may run must not depend on the memory of the machine.
      args: ["--max-agents", "16"],
      env: { FLIGHTSTRIP_DEMO_PACE: "0" },
    });
    await use(server);
    await server.dispose();
  },
  // biome-ignore lint/correctness/noEmptyPattern: as above.
  repository: async ({}, use) => {
    const repository = await TestRepository.create("sample", { "README.md": "# Sample\n" });
    await use(repository);
    await repository.dispose();
  },
  // biome-ignore lint/correctness/noEmptyPattern: as above.
  second: async ({}, use) => {
    const repository = await TestRepository.create("second", { "a.txt": "1\n2\n3\n" });
    await use(repository);
    await repository.dispose();
  },
  // biome-ignore lint/correctness/noEmptyPattern: as above.
  gates: async ({}, use) => {
    const gates = await Gates.create();
    await use(gates);
    await gates.dispose();
  },
  app: async ({ page, server }, use) => {
    await page.goto(server.printedAddress());
    await use(page);
  },
  api: async ({ browser, server, repository }, use) => {
    const api = await Api.open(browser, server);
    await api.addRepository(repository.path);
    await use(api);
    await api.close();
  },
});

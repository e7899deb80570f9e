import { existsSync } from "node:fs";
import { defineConfig, devices } from "@playwright/test";

/** No browser is downloaded: the system's own is used, as `CHROMIUM` says. */
const candidates = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"];
const executablePath =
  candidates.find((path) => path !== undefined && existsSync(path)) ?? "/usr/bin/chromium";

export default defineConfig({
  testDir: "e2e",
  // Every test starts a server of its own, so they may run side by side; two of them fill two cores.
  fullyParallel: true,
  workers: 2,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: process.env.CI ? [["line"]] : [["list"]],
  use: {
    launchOptions: {
      executablePath,
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
    },
    trace: "retain-on-failure",
    screenshot: "only-on-failure",
  },
  projects: [
    { name: "desktop", use: { viewport: { width: 1440, height: 900 } } },
    {
      name: "phone",
      use: { ...devices["Pixel 7"], viewport: { width: 390, height: 844 }, deviceScaleFactor: 1 },
    },
  ],
});

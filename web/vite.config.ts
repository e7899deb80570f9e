import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { compressAssets } from "./build/compress-assets.ts";

/** Where `npm run dev` sends requests: a server started by hand. */
const devServer = process.env.FLIGHTSTRIP_DEV_SERVER ?? "http://127.0.0.1:7447";

export default defineConfig({
  plugins: [react(), tailwindcss(), compressAssets()],
  resolve: { alias: { "~": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    target: "es2023",
    // Fonts and icons stay files: the page's policy allows `data:` for images only.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
  },
  server: {
    proxy: Object.fromEntries(
      ["/api", "/ws", "/readyz"].map((path) => [
        path,
        // The server compares `Origin` and `Host` with its own address.
        { target: devServer, changeOrigin: true, ws: true, headers: { origin: devServer } },
      ]),
    ),
  },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
    restoreMocks: true,
  },
});

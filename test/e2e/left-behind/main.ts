import { fileURLToPath } from "node:url";
import { startVitest } from "vitest/node";

/** Runs the one file that fails on purpose; no suite of the project ever finds it. */
await startVitest("test", [], {
  config: false,
  root: fileURLToPath(new URL(".", import.meta.url)),
  include: ["failing-process.ts"],
  setupFiles: ["../support/leave-nothing.ts"],
  testTimeout: 60_000,
  watch: false,
});

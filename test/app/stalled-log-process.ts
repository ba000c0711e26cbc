/** A process of its own that logs more than anyone reads, as a daemon does, and says over its channel that it went on. */
import { createRuntime } from "../../src/app/runtime.ts";
import { outliveReader } from "../../src/app/terminal.ts";

const [lines = "", ending] = process.argv.slice(2);
// As main does: it is what makes a pipe refuse what it has no room for.
outliveReader(process.stdout);
const { logger } = createRuntime({ level: "info", env: {} });
for (let line = 0; line < Number(lines); line += 1) logger.info({ line, filling: "x".repeat(200) }, "filling");
process.send?.("goes on");
if (ending === "exit") process.exit(0);
process.on("message", () => {
  const sinceMs = performance.now();
  // After what was to be done at the end: 3 where that waited for a reader.
  process.once("exit", () => {
    if (performance.now() - sinceMs > 1_000) process.exitCode = 3;
  });
  process.exit();
});

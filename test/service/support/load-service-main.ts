import type { ServiceOptions } from "../../../src/service/options.ts";
import { startService } from "../../../src/service/service.ts";
import { createRecordingLogger } from "./recording-logger.ts";
import { systemClock } from "./system-clock.ts";

/**
 * A service in a process of its own, so that its memory and its answers are not those of the load. Run with --expose-gc;
 * the parent asks over the channel for the heap after a forced collection.
 */
const options = JSON.parse(process.argv[2] ?? "") as ServiceOptions;
const logger = createRecordingLogger();
const service = await startService(options, { logger, clock: systemClock });

process.on("message", (message) => {
  if (message !== "heap") return;
  // Twice: what the first collection lets go of may hold what the second one finds.
  globalThis.gc?.();
  globalThis.gc?.();
  process.send?.({ heapBytes: process.memoryUsage().heapUsed });
});
process.on("disconnect", () => {
  void service.stop().then(() => process.exit(0));
});
process.send?.({ url: service.url });

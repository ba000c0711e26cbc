/** A process of its own that is asked to stop and takes long over it: to be hurried by a test. */
import { stopOnSignals } from "../../src/app/stop-signals.ts";

setTimeout(() => process.exit(0), 60_000);
const stop = stopOnSignals(undefined);
process.stdout.write("ready\n");
await stop.asked;
process.stdout.write("asked\n");

/** A process of its own that is asked to stop and takes long over it: to be hurried by a test. */
import { stopOnSignals } from "../../src/app/stop-signals.ts";

setTimeout(() => process.exit(0), 60_000);
const stop = stopOnSignals(process.argv[2] === undefined ? undefined : Number(process.argv[2]));
process.stdout.write("ready\n");
process.stdout.write(`asked by ${await stop.asked}\n`);

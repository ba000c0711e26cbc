import { saturate } from "./saturating-client.ts";
import { watchLateness } from "./timer-lateness.ts";

/**
 * One of several processes on one key: the options are JSON in the first argument; prints what it saw as JSON, and sends
 * how late its timers ran to the process that forked it.
 */
const lateness = watchLateness();
const seen = await saturate(JSON.parse(process.argv[2] ?? "{}"));
process.send?.(lateness.stop());
console.log(JSON.stringify(seen));

import { type HostedDoubleOptions, startHostedDouble } from "./hosted-double.ts";

/**
 * The double as a process: `main.ts '<options as JSON>'` prints one JSON line when it is ready and ends on SIGTERM, or
 * when its standard input closes, which is when its parent is gone. Faults are set by `POST /control/faults`.
 */
const double = await startHostedDouble(JSON.parse(process.argv[2] ?? "{}") as HostedDoubleOptions);
const { url, router, relayer, serviceSigner } = double;
console.log(JSON.stringify({ url, router, relayer, serviceSigner }));

let stopping = false;
const stop = (): void => {
  if (stopping) return;
  stopping = true;
  void double.stop().then(() => process.exit(0));
};
process.on("SIGTERM", stop);
process.on("SIGINT", stop);
process.stdin.on("end", stop).resume();

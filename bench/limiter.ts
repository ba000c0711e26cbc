import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startFixedWindowServer, utilisation } from "../test/support/fixed-window-server.ts";
import type { Saturation } from "../test/support/saturating-client.ts";
import { watchLateness } from "../test/support/timer-lateness.ts";

/** One row of the table: how much of the allowed rate a saturating client used, counted from its first request. */
interface Row {
  readonly limitPerSecond: number;
  readonly processes: number;
  readonly seconds: number;
  readonly utilisation: number;
  readonly refused: number;
  /** worst lateness of a timer of the measuring process: above some 15 ms the machine was busy and the row says little */
  readonly worstTimerMs: number;
}

const CLIENT = fileURLToPath(new URL("../test/support/saturating-client-main.ts", import.meta.url));

/** Lets so many processes with one key saturate a real fixed-window server for some seconds. */
async function measure(options: { limitPerSecond: number; processes: number; seconds: number }): Promise<Row> {
  const directory = mkdtempSync(join(tmpdir(), "swapd-bench-limiter-"));
  const server = await startFixedWindowServer(options.limitPerSecond);
  const client: Saturation = {
    url: server.url,
    file: join(directory, "limiter.db"),
    limitPerSecond: options.limitPerSecond,
    seconds: options.seconds,
    concurrency: 32,
  };
  const lateness = watchLateness();
  await Promise.all(Array.from({ length: options.processes }, () => runClient(client)));
  const worstTimerMs = Math.round(lateness.stop().worstMs);
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
  const { share, refused } = utilisation(server.answers, { limit: options.limitPerSecond, seconds: options.seconds });
  return { ...options, utilisation: Math.round(share * 10_000) / 10_000, refused, worstTimerMs };
}

function runClient(client: Saturation): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLIENT, JSON.stringify(client)], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    child.once("error", reject);
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`a client ended with code ${code}`))));
  });
}

const seconds = Number(process.argv[2] ?? "20");
const rows: Row[] = [];
for (const limitPerSecond of [50, 200]) {
  for (const processes of [1, 4]) rows.push(await measure({ limitPerSecond, processes, seconds }));
}
console.table(rows);
console.log(JSON.stringify({ bench: "limiter", rows }));

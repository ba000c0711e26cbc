import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { makeFolder, start } from "../test/e2e/support/swapd.ts";
import { utilisation } from "../test/support/fixed-window-server.ts";
import type { SeenAnswer } from "../test/support/saturating-client.ts";
import { watchLateness } from "../test/support/timer-lateness.ts";

/**
 * A client of ours that always has calls waiting, without a key (50 calls a second), against our own service and against
 * the double of the hosted one; counted by the client from its first request. Run it alone: ends with 1 when less than
 * the gate is used or anything is refused.
 */
const GATE = 0.94;
const LIMIT_PER_SECOND = 50;
const seconds = Number(process.argv[2] ?? "20");

const CLIENT = fileURLToPath(new URL("../test/support/saturating-client-main.ts", import.meta.url));
const DOUBLE = fileURLToPath(new URL("../test/support/hosted-double/main.ts", import.meta.url));
const run = promisify(execFile);

interface Row {
  readonly against: string;
  readonly seconds: number;
  readonly utilisation: number;
  readonly refused: number;
  readonly worstTimerMs: number;
}

async function measure(against: string, url: string, wallet: string): Promise<Row> {
  const directory = mkdtempSync(join(tmpdir(), "swapd-bench-services-"));
  const lateness = watchLateness();
  const options = {
    url: `${url}/user-manager/status-counts?networkName=sandbox&walletAddress=${wallet}`,
    file: join(directory, "limiter.db"),
    limitPerSecond: LIMIT_PER_SECOND,
    seconds,
    concurrency: 32,
  };
  const { stdout } = await run(process.execPath, [CLIENT, JSON.stringify(options)], { maxBuffer: 64_000_000 });
  const seen = JSON.parse(stdout) as SeenAnswer[];
  rmSync(directory, { recursive: true, force: true });
  const { share, refused } = utilisation(seen, { limit: LIMIT_PER_SECOND, seconds });
  const worstTimerMs = Math.round(lateness.stop().worstMs);
  return { against, seconds, utilisation: Math.round(share * 10_000) / 10_000, refused, worstTimerMs };
}

const folder = makeFolder();
const sandbox = start(folder.path, ["sandbox", "--no-daemon", "--json", "--no-market", "--port", "0"]);
const world = JSON.parse(await sandbox.firstLine) as {
  rpcUrl: string;
  serviceUrl: string;
  wallet: { address: string };
};
const facts = JSON.parse(readFileSync(join(folder.path, ".swapd/sandbox/network.json"), "utf8")) as {
  chainId: number;
  wrappedNative: string;
  protocols: { kind: number; factory: string }[];
};
const double = spawn(
  process.execPath,
  [
    DOUBLE,
    JSON.stringify({
      rpcUrl: world.rpcUrl,
      chainId: facts.chainId,
      network: "sandbox",
      wrappedNative: facts.wrappedNative,
      factory: facts.protocols.find((protocol) => protocol.kind === 1)?.factory,
    }),
  ],
  { stdio: ["pipe", "pipe", "inherit"] },
);
const doubleUrl = await new Promise<string>((resolve) => {
  double.stdout.once("data", (line: Buffer) => resolve((JSON.parse(line.toString()) as { url: string }).url));
});
const rows = [
  await measure("our service", world.serviceUrl, world.wallet.address),
  await measure("the hosted double", doubleUrl, world.wallet.address),
];
double.kill("SIGTERM");
sandbox.process.kill("SIGTERM");
await sandbox.ended;
folder.remove();
console.table(rows);
console.log(JSON.stringify({ bench: "limiter-services", gate: GATE, rows }));
process.exit(rows.every((row) => row.utilisation >= GATE && row.refused === 0) ? 0 : 1);

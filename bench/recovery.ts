import { readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { claimPort } from "../src/sandbox/free-port.ts";
import { createRpc, type Rpc } from "../src/sandbox/rpc.ts";
import { makeFolder, type Started, start, until } from "../test/e2e/support/swapd.ts";
import { type ChainWorld, crowdOf, fund, writeProject } from "./recovery/crowd.ts";
import { startLossyService } from "./recovery/lossy-service.ts";

/**
 * How long a daemon takes to recover from SIGKILL with 1,000 open swaps.
 *
 * The world is a real one: chain, service with its relayer, and daemon are processes of their own. 1,125 DCA strategies
 * of 375 wallets are due in one second, a third of them self-executed and the others gasless, while blocks have no room
 * for any transaction: they stay in the node's pool. Each swap ends up signed and open: broadcast by its wallet's lane,
 * submitted to the service, or submitted with its answer lost, which the daemon must treat as unknown. (The service's
 * relayer takes 50 at a time, so all but 40 submissions are lost on their way.) The bench waits until 1,000 are open, and
 * kills the daemon with SIGKILL. Then blocks have room for a while, and after that the chain stands still, so that what it
 * says of each swap is fixed: the bench reads it for itself.
 *
 * Measured is the time from the start of the new process until the database has, of every single one of the 1,000, what
 * the chain says: those that are in a block are confirmed or final; of those that are not, a check of the chain is
 * answered and written down after the start. The database is looked at from outside, every 50 ms. Ends with 1 when the
 * gate is missed. Run it alone.
 */
const SWAPS = Number(process.argv[2] ?? "1000");
/** Some are skipped, whose quote came late or whose order the service refused: there are more strategies than swaps are wanted. */
const SPARE = Math.ceil(SWAPS / 8);
/** Hand-overs that reach the service; fewer than its relayer lets wait, so that it goes on quoting. */
const HANDED_OVER = 40;
const GATE_MS = 5_000;
const OPEN_WITHIN_MS = 900_000;
/** Signing wants a chain whose newest block is at most a minute old. */
const EMPTY_BLOCK_EVERY_MS = 15_000;
const BLOCKS_FOR_MS = 20_000;
const RECOVER_WITHIN_MS = 120_000;
/** Quotes live so long that none expires while the swaps are opened. */
const LIFETIME_SECONDS = 3_600;
const CLOCK_TICKS_PER_SECOND = 100;
const POLL_EVERY_MS = 50;
const OPEN = "('signed', 'submitted', 'mined', 'confirmed', 'unknown')";

interface OpenSwap {
  readonly id: string;
  readonly state: string;
  readonly mode: "self-executed" | "gasless";
  readonly wallet: string;
  readonly nonce: string | null;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function countBy(states: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const state of states) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

/** Seconds of processor time that a process has used so far. */
function cpuSeconds({ process: { pid } }: Started): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
}

/** The first whole minute after a while. */
function minuteAhead(whileMs: number): { cron: string; atMs: number } {
  const atMs = Math.ceil((Date.now() + whileMs) / 60_000) * 60_000;
  const at = new Date(atMs);
  return { cron: `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`, atMs };
}

function openSwaps(db: Database.Database): OpenSwap[] {
  return db.prepare<[], OpenSwap>(`SELECT id, state, mode, wallet, nonce FROM swaps WHERE state IN ${OPEN}`).all();
}

/** Swaps that are in a block, by the chain alone: receipts of all transactions of the lanes, events of the contract. */
async function minedOf(rpc: Rpc, world: ChainWorld, db: Database.Database): Promise<Set<string>> {
  const attempts = db
    .prepare<[], { hash: string; id: string }>("SELECT hash, replace(intent_id, '.swap', '') AS id FROM lane_attempts")
    .all();
  const receipts = await rpc.batch(
    attempts.map(({ hash }) => ({ method: "eth_getTransactionReceipt", params: [hash] })),
  );
  const mined = new Set(attempts.filter((_, index) => receipts[index] !== null).map(({ id }) => id));
  const filter = { address: world.settlement, fromBlock: "0x0", toBlock: "latest" };
  const logs = (await rpc.call("eth_getLogs", filter)) as { topics: string[] }[];
  const filled = new Set(logs.map(({ topics }) => `${topics[1]?.slice(26)} ${BigInt(topics[2] ?? 0)}`));
  for (const { id, mode, wallet, nonce } of openSwaps(db)) {
    if (mode === "gasless" && filled.has(`${wallet.slice(2)} ${nonce}`)) mined.add(id);
  }
  return mined;
}

/** How many of these swaps stand in the database as the chain has them, as of the new process. */
function countRecovered(
  db: Database.Database,
  swaps: readonly OpenSwap[],
  { mined, startedAtMs }: { mined: ReadonlySet<string>; startedAtMs: number },
): number {
  const states = new Map(
    db
      .prepare<[], { id: string; state: string }>("SELECT id, state FROM swaps")
      .all()
      .map((row) => [row.id, row.state]),
  );
  // The answer of a check that found nothing writes the next one down.
  const polled = new Set(
    db
      .prepare<[number], string>("SELECT swap_id FROM effects WHERE kind = 'ReadChain' AND created_at_ms >= ?")
      .pluck()
      .all(startedAtMs),
  );
  // What was signed and not sent yet waits in the pool: the chain stands still.
  const sent = new Set(
    db
      .prepare<[number], string>(
        "SELECT replace(intent_id, '.swap', '') FROM lane_attempts WHERE state = 'broadcast' AND last_broadcast_at_ms >= ?",
      )
      .pluck()
      .all(startedAtMs),
  );
  return swaps.filter(({ id }) => {
    const state = states.get(id) ?? "gone";
    if (mined.has(id)) return state === "confirmed" || state === "final";
    return (polled.has(id) || sent.has(id)) && (state === "submitted" || state === "unknown");
  }).length;
}

/** A block without room: what is sent stays in the pool. Nobody asks in between, when the node takes nothing. */
async function mineEmptyBlock(rpc: Rpc, others: readonly Started[]): Promise<void> {
  for (const { process } of others) process.kill("SIGSTOP");
  await rpc.call("evm_setBlockGasLimit", "0x5300");
  await rpc.call("evm_mine");
  await rpc.call("evm_setBlockGasLimit", "0x1c9c380");
  for (const { process } of others) process.kill("SIGCONT");
}

async function openAll(
  parts: { daemon: Started; service: Started; chain: Started; rpc: Rpc },
  plan: { dueAtMs: number; database: string },
): Promise<OpenSwap[]> {
  const { daemon, service, chain, rpc } = parts;
  await sleep(plan.dueAtMs - Date.now() - 1_000);
  // The sandbox makes the blocks; the node, a process of its own, goes on answering.
  chain.process.kill("SIGSTOP");
  const db = new Database(plan.database, { readonly: true });
  let open = openSwaps(db);
  let minedAtMs = Date.now();
  while (
    open.length < SWAPS &&
    Date.now() < plan.dueAtMs + OPEN_WITHIN_MS &&
    daemon.process.exitCode === null &&
    daemon.process.signalCode === null
  ) {
    await sleep(POLL_EVERY_MS);
    open = openSwaps(db);
    if (Date.now() < minedAtMs + EMPTY_BLOCK_EVERY_MS) continue;
    await mineEmptyBlock(rpc, [daemon, service]);
    minedAtMs = Date.now();
  }
  const openedMs = Date.now() - plan.dueAtMs;
  daemon.process.kill("SIGKILL");
  await daemon.ended;
  open = openSwaps(db);
  const states = db.prepare<[], string>("SELECT state || coalesce(' ' || reason, '') FROM swaps").pluck().all();
  db.close();
  console.error(`open after ${openedMs} ms: ${JSON.stringify(countBy(states))}`);
  if (open.length >= SWAPS) return open;
  throw new Error(`only ${open.length} of ${SWAPS} swaps were open\n${daemon.output().slice(-3_000)}`);
}

async function recover(
  startDaemon: () => Started,
  swaps: readonly OpenSwap[],
  from: { mined: ReadonlySet<string>; database: string },
): Promise<{ recoveryMs: number; halfMs: number; healthMs: number; cpuSeconds: number }> {
  const db = new Database(from.database, { readonly: true });
  const startedAtMs = Date.now();
  const began = performance.now();
  const daemon = startDaemon();
  let healthMs = Number.NaN;
  let halfMs = Number.NaN;
  for (;;) {
    const recovered = countRecovered(db, swaps, { mined: from.mined, startedAtMs });
    const passedMs = Math.round(performance.now() - began);
    if (Number.isNaN(healthMs) && daemon.output().includes("statusUrl")) healthMs = passedMs;
    if (Number.isNaN(halfMs) && recovered * 2 >= swaps.length) halfMs = passedMs;
    if (recovered === swaps.length || passedMs > RECOVER_WITHIN_MS) {
      db.close();
      const cpu = cpuSeconds(daemon);
      daemon.process.kill("SIGTERM");
      await daemon.ended;
      if (recovered === swaps.length) return { recoveryMs: passedMs, halfMs, healthMs, cpuSeconds: cpu };
      throw new Error(`${recovered} of ${swaps.length} after ${passedMs} ms\n${daemon.output().slice(-3_000)}`);
    }
    await sleep(POLL_EVERY_MS);
  }
}

const folder = makeFolder();
const chain = start(folder.path, [
  "sandbox",
  "--chain-only",
  "--json",
  "--no-market",
  "--block-time",
  "0.5",
  "--port",
  "0",
]);
const { rpcUrl } = JSON.parse(await chain.firstLine) as { rpcUrl: string };
const world = JSON.parse(readFileSync(join(folder.path, ".swapd/sandbox/world.json"), "utf8")) as ChainWorld;
const rpc = createRpc(rpcUrl);
const crowd = crowdOf(SWAPS + SPARE);
await fund(rpc, world, crowd);
const servicePort = await claimPort(0);
const lossy = await startLossyService(`http://127.0.0.1:${servicePort}`, HANDED_OVER);
const project = { world, rpcUrl, crowd, servicePort, serviceUrl: lossy.url };
const database = join(folder.path, "recovery", "swapd.db");
const { cron, atMs: dueAtMs } = minuteAhead(90_000);
const files = writeProject(folder.path, { ...project, cron, lifetimeSeconds: LIFETIME_SECONDS });
const service = start(folder.path, ["serve", "--config", files.service], files.env);
await service.firstLine;
const startDaemon = (): Started => start(folder.path, ["start", "--config", files.daemon], files.env);
const first = startDaemon();
await until("the daemon is up", { process: first, withinMs: 60_000 }, () => first.output().includes("statusUrl"));
const swaps = await openAll({ daemon: first, service, chain, rpc }, { dueAtMs, database });
chain.process.kill("SIGCONT");
await sleep(BLOCKS_FOR_MS);
// The relayer rests for the last blocks, so that whatever is in a block has all its confirmations.
service.process.kill("SIGSTOP");
await sleep(5_000);
chain.process.kill("SIGSTOP");
service.process.kill("SIGCONT");
await sleep(1_000);
const reader = new Database(database, { readonly: true });
const mined = await minedOf(rpc, world, reader);
reader.close();
const figures = await recover(startDaemon, swaps, { mined, database });
chain.process.kill("SIGCONT");
for (const part of [service, chain]) {
  part.process.kill("SIGTERM");
  await part.ended;
}
await lossy.stop();
folder.remove();
const row = {
  swaps: swaps.length,
  wallets: crowd.length,
  ...countBy(swaps.map(({ mode, state }) => `${mode} ${state}`)),
  minedMeanwhile: mined.size,
  ...figures,
};
console.table([row]);
console.log(JSON.stringify({ bench: "recovery", gates: { recoveryMs: GATE_MS }, row }));
process.exit(figures.recoveryMs < GATE_MS ? 0 : 1);

import Database from "better-sqlite3";
import { type CampaignResult, killRepeatedly } from "./campaign.ts";
import { type ChainWitness, createChainWitness } from "./chain-witness.ts";
import { type GaslessLoad, type HandedOver, startGaslessLoad } from "./gasless-load.ts";
import { lifeMinutesOf } from "./kill-harness.ts";
import { planKillsUnderLoad } from "./kill-plan.ts";
import { type KillWorld, startKillWorld, startService } from "./kill-world.ts";
import { after, type Child } from "./processes.ts";
import { checkSwapsOfRelay } from "./verdict.ts";

export interface ServiceKillOptions {
  readonly kills: number;
  readonly wallets: number;
  readonly seed: number;
  /** how long it may take until nothing is open any more */
  readonly quietMs: number;
  report(text: string): void;
}

/** What killing the service showed. */
export interface ServiceKillReport {
  readonly seed: number;
  readonly service: CampaignResult;
  readonly handedOver: number;
  readonly accepted: number;
  /** ends of accepted swaps, by status */
  readonly ends: Readonly<Record<string, number>>;
  /** swaps that were taken and filled after the last kill */
  readonly filledAfterwards: number;
  /** everything that is wrong; empty when all invariants hold */
  readonly violations: readonly string[];
}

export function summaryOfService(report: ServiceKillReport): string {
  const ends = Object.entries(report.ends).map(([status, count]) => `${count} ${status}`);
  return (
    `seed ${report.seed}: ${report.service.kills} kills of the service (${report.service.passed.length} at labels); ` +
    `${report.handedOver} swaps submitted, ${report.accepted} accepted: ${ends.join(", ")}; ` +
    `${report.filledAfterwards} of them filled after the last kill`
  );
}

/** A jam of the relayer's nonce would show here. */
const UNDISTURBED_MS = 3_000;
const UP_WITHIN_MS = 20_000;

/** Kills the service again and again while wallets sell gasless through it; then lets all come to rest and looks. */
export async function runServiceKills(options: ServiceKillOptions): Promise<ServiceKillReport> {
  const { report, seed } = options;
  const world = await startKillWorld("swapd", {
    tracks: options.wallets,
    lifeMinutes: lifeMinutesOf(options.kills),
  });
  let last: Child | undefined;
  let load: GaslessLoad | undefined;
  let violations: readonly string[] = ["it did not get to the end"];
  try {
    report(`seed ${seed}, ${options.kills} kills of the service, all of it in ${world.directory}`);
    const chain = createChainWitness(world.rpcUrl, world);
    const funding = await outflowsOf(world, chain);
    load = startGaslessLoad(world);
    const victim = {
      name: "service",
      slowness: world.slowness,
      start: (env: Readonly<Record<string, string>>) => startService(world, env),
      leftSwapUnsent: () => true,
      operate: async () => [],
      report,
    };
    const service = await killRepeatedly(victim, planKillsUnderLoad(options.kills, seed));
    report(`${service.kills} kills done, now it runs undisturbed`);
    last = startService(world);
    await untilUp(world);
    const before = load.handedOver.length;
    await after(UNDISTURBED_MS);
    await load.stop();
    const stillOpen = await untilNothingIsOpen(world, options.quietMs);
    const reported = await askForAll(world, load.handedOver);
    const stopped = await stopCleanly(last);
    violations = [
      ...service.unexpected,
      ...load.violations,
      ...stillOpen.map((thing) => `still open after ${options.quietMs} ms: ${thing}`),
      ...stopped,
      ...(await checkSwapsOfRelay(world, chain)),
      ...(await judge(world, { chain, funding, handedOver: load.handedOver, reported })),
    ];
    return { seed, service, ...count(load.handedOver, reported, before), violations };
  } finally {
    await load?.stop();
    last?.kill("SIGKILL");
    await last?.ended;
    await world.stop(violations.length > 0);
  }
}

/** A swap's record as the service reports it. */
interface Reported {
  readonly id: string;
  readonly status: string;
  readonly hash: string | null;
}

async function askForAll(world: KillWorld, swaps: readonly HandedOver[]): Promise<ReadonlyMap<string, Reported>> {
  const reported = new Map<string, Reported>();
  for (const { quoteId } of swaps) {
    const answer = await askFor(world, quoteId);
    if (answer.status === 200) reported.set(quoteId, (await answer.json()) as Reported);
    else if (answer.status !== 404) throw new Error(`the service answers ${answer.status} for quote ${quoteId}`);
  }
  return reported;
}

const MOST_REFUSALS = 30;

/** One after the other they come faster than the key's limit allows. */
async function askFor(world: KillWorld, quoteId: string): Promise<Response> {
  for (let refusals = 0; ; refusals += 1) {
    const answer = await fetch(`${world.serviceUrl}/user-manager/swap?quoteId=${quoteId}`, {
      headers: { apikey: "key-of-daemon-1" },
    });
    if (answer.status !== 429 || refusals === MOST_REFUSALS) return answer;
    await answer.body?.cancel();
    await after(Number(answer.headers.get("retry-after") ?? 1) * 1_000);
  }
}

/** Every swap that was taken has an end, and the ends are what the chain has: each fill once, and nothing else left. */
async function judge(
  world: KillWorld,
  found: {
    chain: ChainWitness;
    funding: ReadonlySet<string>;
    handedOver: readonly HandedOver[];
    reported: ReadonlyMap<string, Reported>;
  },
): Promise<string[]> {
  const { chain, handedOver, reported } = found;
  const wrong: string[] = [];
  const fills = new Map<string, string[]>();
  for (const { wallet } of world.tracks) {
    for (const { hash, nonce } of await chain.fills(wallet)) {
      fills.set(`${wallet} ${nonce}`, [...(fills.get(`${wallet} ${nonce}`) ?? []), hash]);
    }
  }
  const claimed = new Map<string, HandedOver>();
  for (const swap of handedOver) {
    const record = reported.get(swap.quoteId);
    const hashes = fills.get(`${swap.wallet} ${swap.nonce}`) ?? [];
    if (swap.acceptedAs !== undefined && record === undefined) wrong.push(`swap ${swap.acceptedAs} is lost`);
    if (swap.acceptedAs !== undefined && record !== undefined && record.id !== swap.acceptedAs) {
      wrong.push(`swap ${swap.acceptedAs} is called ${record.id} now`);
    }
    if (record?.status === "pending") wrong.push(`swap ${record.id} has no end`);
    if (hashes.length > 1) wrong.push(`quote ${swap.quoteId} was executed ${hashes.length} times`);
    if ((record?.status === "success") !== (hashes.length === 1)) {
      wrong.push(`quote ${swap.quoteId} is ${record?.status ?? "unknown"}, and the chain has ${hashes.length} fills`);
    }
    if (record?.status === "success" && record.hash !== hashes[0]) {
      wrong.push(`swap ${record.id} names ${record.hash}, its fill is ${hashes[0]}`);
    }
    for (const hash of hashes) claimed.set(hash, swap);
  }
  for (const [wallet, outflow] of await walletOutflows(world, chain)) {
    if (found.funding.has(outflow.hash)) continue;
    const swap = claimed.get(outflow.hash);
    const isThat = swap?.wallet === wallet && swap.token === outflow.token;
    if (isThat && swap.sellAmount === String(outflow.amount)) continue;
    wrong.push(`${outflow.amount} of ${outflow.token} left ${wallet} in ${outflow.hash}, which no swap explains`);
  }
  return wrong;
}

async function walletOutflows(world: KillWorld, chain: ChainWitness) {
  const all = world.tracks.map(async ({ wallet }) =>
    (await chain.outflows(wallet)).map((outflow) => [wallet, outflow] as const),
  );
  return (await Promise.all(all)).flat();
}

async function outflowsOf(world: KillWorld, chain: ChainWitness): Promise<ReadonlySet<string>> {
  return new Set((await walletOutflows(world, chain)).map(([, { hash }]) => hash));
}

function count(swaps: readonly HandedOver[], reported: ReadonlyMap<string, Reported>, before: number) {
  const accepted = swaps.filter(({ acceptedAs }) => acceptedAs !== undefined);
  const ends: Record<string, number> = {};
  for (const { quoteId } of accepted) {
    const status = reported.get(quoteId)?.status ?? "lost";
    ends[status] = (ends[status] ?? 0) + 1;
  }
  const filledAfterwards = swaps
    .slice(before)
    .filter(({ quoteId }) => reported.get(quoteId)?.status === "success").length;
  return { handedOver: swaps.length, accepted: accepted.length, ends, filledAfterwards };
}

async function untilUp(world: KillWorld): Promise<void> {
  const endMs = performance.now() + UP_WITHIN_MS;
  while (performance.now() < endMs) {
    const answer = await fetch(`${world.serviceUrl}/health`).catch(() => undefined);
    if (answer?.status === 200) return;
    await after(100);
  }
  throw new Error(`the service is not up within ${UP_WITHIN_MS} ms`);
}

async function untilNothingIsOpen(world: KillWorld, withinMs: number): Promise<readonly string[]> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    const open = readOpen(world.serviceDatabase);
    if (open.length === 0 || performance.now() > endMs) return open;
    await after(250);
  }
}

function readOpen(file: string): readonly string[] {
  const db = new Database(file, { readonly: true });
  try {
    return db
      .prepare<[], { id: string }>(
        `SELECT 'swap ' || id AS id FROM swaps WHERE status = 'pending'
         UNION ALL SELECT 'transaction ' || id || ' ' || state FROM lane_intents WHERE state NOT IN ('final', 'dropped')`,
      )
      .all()
      .map(({ id }) => id);
  } finally {
    db.close();
  }
}

async function stopCleanly(service: Child): Promise<readonly string[]> {
  service.kill("SIGTERM");
  const { code, signal } = await service.ended;
  return code === 0 ? [] : [`the service stopped with code ${code}, signal ${signal}`];
}

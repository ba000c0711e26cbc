import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { median } from "../../src/domain/paper/fill-quality.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { writeWallet } from "../support/wallet-files.ts";
import { WIDE_POLICY } from "../support/wide-policy.ts";
import { writeHome } from "./support/home.ts";
import { run, type Started, start } from "./support/swapd.ts";

// The same strategies at the same slots on the same chain, once on paper and once live. Amounts are small against the pools,
// and what one direction moves the other moves back, so that the live one hardly changes what the paper one sees. The market
// moves between slots and rests while they are traded: how many blocks apart two processes are is not what is compared.

/** The sandbox's market moves a step a second by itself: 240 slots with 15 steps each are an hour of it. */
const SLOTS = Number(process.env.SWAPD_PAPER_AGAINST_LIVE_SLOTS ?? 5);
const STEPS = 15;
const SLOT_SECONDS = 20;
const BLOCK_SECONDS = 0.5;
const LIMIT_MS = SLOTS * SLOT_SECONDS * 1_500 + 300_000;
const MOST_PPM = 500n;

const LEGS = {
  "usdc-for-weth": ["50 USDC", "WETH"],
  "weth-for-usdc": ["0.017 WETH", "USDC"],
} as const;

const KINDS = ["paper", "live"] as const;
type Kind = (typeof KINDS)[number];
const WALLETS: Readonly<Record<Kind, string>> = {
  paper: "paper: { USDC: 100000, WETH: 50, ETH: 50 }",
  live: "keystore: { file: wallet.json }, password: { file: wallet.pass }",
};

let sandbox: Sandbox;
const home = mkdtempSync(join(tmpdir(), "swapd-paper-live-"));
const folderOf = (kind: Kind): string => join(home, kind);
const envOf = (kind: Kind) => ({ HOME_RPC: sandbox.world.rpcUrl, SWAPD_CONFIG: join(folderOf(kind), "swapd.yaml") });

const dca = (sell: string, buy: string) => `kind: dca
wallet: main
sell: "${sell}"
buy: ${buy}
schedule: { every: ${SLOT_SECONDS}s }
retry_for: 10s
limits: { slippage: 2%, price_impact: 1% }
execution: { gasless: never }
`;

function writeConfiguration(kind: Kind): void {
  const { world } = sandbox;
  const folder = folderOf(kind);
  const strategies = Object.entries(LEGS).map(([name, [sell, buy]]) => [name, dca(sell, buy)]);
  writeHome(folder, {
    ...{ world, mode: kind, strategies: Object.fromEntries(strategies), wallets: `{ main: { ${WALLETS[kind]} } }` },
    policy: WIDE_POLICY.replace('"100000 USD"', '"100000000 USD"'),
    timing: "quoteLifetime: 20s, permitLifetime: 60s, pollInterval: 500ms",
  });
  writeWallet(folder, world.wallet.privateKey);
}

beforeAll(async () => {
  sandbox = await startSandbox({
    ...{ directory: join(home, "sandbox"), port: 0, blockTimeSeconds: BLOCK_SECONDS, seed: 7, market: false },
  });
  for (const kind of KINDS) writeConfiguration(kind);
}, 120_000);

afterAll(async () => {
  await sandbox?.stop();
  rmSync(home, { recursive: true, force: true });
});

const history = z.object({
  runs: z.array(
    z.object({
      strategy: z.string(),
      slot: z.string(),
      swaps: z.array(
        z.object({ sold: z.string().nullable(), bought: z.string().nullable(), blockNumber: z.number().nullable() }),
      ),
    }),
  ),
});

interface Fill {
  readonly sold: bigint;
  readonly bought: bigint;
  readonly block: number;
}

async function fillsOf(kind: Kind): Promise<ReadonlyMap<string, Fill>> {
  const { code, out, err } = await run(folderOf(kind), ["history", "--json", "--limit", "100000"], envOf(kind));
  expect(code, `${out}${err}`).toBe(0);
  const fills = new Map<string, Fill>();
  for (const { strategy, slot, swaps } of history.parse(JSON.parse(out)).runs) {
    const [swap] = swaps;
    if (!swap?.sold || !swap.bought || swap.blockNumber === null) continue;
    fills.set(`${strategy} ${slot}`, { sold: BigInt(swap.sold), bought: BigInt(swap.bought), block: swap.blockNumber });
  }
  return fills;
}

const MILLION = 1_000_000n;

/** How much more than live the same slot brought on paper, in parts per million, and how many blocks later. */
interface Pair {
  readonly slot: string;
  readonly ppm: bigint;
  readonly later: number;
}

/** The slots that both filled. */
async function pairs(): Promise<readonly Pair[]> {
  const [onPaper, live] = [await fillsOf("paper"), await fillsOf("live")];
  return [...onPaper].flatMap(([slot, paper]) => {
    const real = live.get(slot);
    if (real === undefined) return [];
    const ppm = (paper.bought * real.sold * MILLION) / (paper.sold * real.bought) - MILLION;
    return [{ slot, ppm, later: paper.block - real.block }];
  });
}

const magnitude = (ppm: bigint): bigint => (ppm < 0n ? -ppm : ppm);
const bps = (ppm: bigint | undefined): string => (ppm === undefined ? "none" : (Number(ppm) / 100).toFixed(2));

function report(found: readonly Pair[]): string {
  const sizes = found.map(({ ppm }) => magnitude(ppm)).sort((one, other) => Number(one - other));
  const blocks = median(found.map(({ later }) => BigInt(later)));
  const medians = `median ${bps(median(found.map(({ ppm }) => ppm)))} bp, median size ${bps(median(sizes))} bp`;
  return `${found.length} slots that both filled, paper against live: ${medians}, largest ${bps(sizes.at(-1))} bp, ${blocks} blocks later`;
}

/** Lets both trade for so many slots, with a market that moves just before each. */
async function trade(slots: number): Promise<void> {
  const daemons: Started[] = KINDS.map((kind) => start(folderOf(kind), ["start"], envOf(kind)));
  for (let slot = 0; slot < slots; slot += 1) {
    const slotMs = SLOT_SECONDS * 1_000;
    // The steps end before the slot begins.
    const leadMs = 4_000;
    await sleep(slotMs - ((Date.now() + leadMs) % slotMs));
    for (let step = 0; step < STEPS; step += 1) await sandbox.market.step();
    for (const { process: child, output } of daemons) expect(child.exitCode, output()).toBeNull();
  }
  await sleep(SLOT_SECONDS * 1_000);
  for (const { process: child } of daemons) child.kill("SIGTERM");
  for (const { ended } of daemons) expect((await ended).code).toBe(0);
}

test("paper against live, slot by slot in the same market: the median difference is below 5 basis points", {
  timeout: LIMIT_MS,
}, async () => {
  await trade(SLOTS);
  const found = await pairs();
  console.log(report(found));
  expect(found.length).toBeGreaterThanOrEqual(SLOTS / 2);
  expect(median(found.map(({ ppm }) => ppm))).toSatisfy((ppm: bigint) => magnitude(ppm) < MOST_PPM);
  expect(median(found.map(({ ppm }) => magnitude(ppm)))).toSatisfy((ppm: bigint) => ppm < MOST_PPM);
});

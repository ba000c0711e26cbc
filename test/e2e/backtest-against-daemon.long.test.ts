import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { computeAddress } from "ethers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { Address } from "../../src/domain/money/address.ts";
import { fundCopies } from "../../src/sandbox/funded-copy.ts";
import { createRpc } from "../../src/sandbox/rpc.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { writeWallet } from "../support/wallet-files.ts";
import { WIDE_POLICY } from "../support/wide-policy.ts";
import { writeHome } from "./support/home.ts";
import { feedPrices, poolPrice, poolsOf } from "./support/market-prices.ts";
import { run, start } from "./support/swapd.ts";

// A live daemon trades in a sandbox whose market moves before each slot and rests while it is traded. Its feed is written
// down as candles, and so is what the pools ask, which is up to half their fee away from it. The same strategies are played
// over them: the same slots, amounts and reasons, and nearly the same fills. A play for each group, because their pools keep
// different fees.

const SLOTS = Number(process.env.SWAPD_BACKTEST_SLOTS ?? 8);
const SLOT_SECONDS = 30;
const SLOT_MS = SLOT_SECONDS * 1_000;
const STEPS = 8;
const LEAD_MS = 8_000;
const MOST_BPS = 5;
/** Whom the pool of DAI pays, so that what it brings is in no other group's weights. */
const ELSEWHERE = "0x00000000000000000000000000000000000a11ce";
const SYMBOLS = ["WETH", "USDC", "DAI", "WBTC", "USDT"] as const;
/** The fee of the pools that the groups trade with, by what is bought and what it costs there. */
const POOLS = { "WETH/USDC": 500, "WETH/DAI": 3_000, "WBTC/USDC": 3_000, "USDT/USDC": 100 } as const;
type Pair = keyof typeof POOLS;

const common = `wallet: main
schedule: { every: ${SLOT_SECONDS}s }
retry_for: 20s
limits: { slippage: 2%, price_impact: 1% }
execution: { gasless: never }
`;
const GROUPS = {
  ether: {
    poolFee: "0.05%",
    pools: ["WETH/USDC"],
    strategies: {
      buy: `kind: dca\nsell: "50 USDC"\nbuy: WETH\n${common}`,
      gain: `kind: threshold\nsell: "0.1 WETH"\nbuy: USDC\nwhen: { crosses_above: "3010 USDC" }\nrearm: { below: "3005 USDC", cooldown: 1s }\n${common}`,
    },
  },
  alone: {
    poolFee: "0.05%",
    pools: ["WETH/USDC"],
    strategies: {
      weights: `kind: rebalance\nquote: USDC\ntargets: { WETH: 42.5%, USDC: rest }\nbands: { relative: 0.2% }\ntrades: { min: "20 USDC" }\n${common.replace("main", "second")}`,
    },
  },
  dai: {
    poolFee: "0.3%",
    pools: ["WETH/DAI"],
    strategies: {
      capped: `kind: dca\nsell: "40 DAI"\nbuy: WETH\nrecipient: "${ELSEWHERE}"\nbudget: { total: "100 DAI" }\n${common}`,
    },
  },
  bitcoin: {
    poolFee: "0.31%",
    pools: ["WBTC/USDC", "USDT/USDC"],
    strategies: {
      mix: `kind: rebalance\nquote: USDT\ntargets: { WBTC: 50%, USDT: rest }\nbands: { relative: 0.5% }\ntrades: { min: "20 USDT" }\n${common}`,
    },
  },
} as const;
const GROUP_NAMES = ["ether", "alone", "dai", "bitcoin"] as const;
const MIXES: ReadonlySet<string> = new Set(["weights", "mix"]);
const POLICY = WIDE_POLICY.replace('"1000 USD"', '"20000 USD"')
  .replace('"100000 USD"', '"100000000 USD"')
  .replace("[main]", `[main, second, "${ELSEWHERE}"]`);

/** Of a wallet that has what the sandbox's has. */
const SECOND_KEY = `0x${"5ec0".repeat(16)}`;
const keystore = (name: string): string =>
  `{ keystore: { file: ${name}/wallet.json }, password: { file: ${name}/wallet.pass } }`;

let sandbox: Sandbox;
const home = mkdtempSync(join(tmpdir(), "swapd-backtest-daemon-"));
const env = () => ({ HOME_RPC: sandbox.world.rpcUrl, SWAPD_CONFIG: join(home, "swapd.yaml") });

beforeAll(async () => {
  sandbox = await startSandbox({
    ...{ directory: join(home, "sandbox"), port: 0, blockTimeSeconds: 0.5, seed: 7, market: false },
  });
  writeHome(home, {
    ...{ world: sandbox.world, mode: "live", policy: POLICY },
    wallets: `{ main: ${keystore("main")}, second: ${keystore("second")} }`,
    strategies: Object.assign({}, ...Object.values(GROUPS).map(({ strategies }) => strategies)),
    timing: "quoteLifetime: 20s, permitLifetime: 60s, pollInterval: 250ms",
  });
  const { wallet, tokens } = sandbox.world;
  for (const [name, key] of Object.entries({ main: wallet.privateKey, second: SECOND_KEY })) {
    mkdirSync(join(home, name));
    writeWallet(join(home, name), key);
  }
  const copy = { of: wallet.address, address: computeAddress(SECOND_KEY) as Address, extra: new Map() };
  const addresses = Object.values(tokens).map(({ address }) => address);
  await fundCopies(createRpc(sandbox.world.rpcUrl), [copy], addresses);
  for (const [group, { strategies }] of Object.entries(GROUPS)) {
    mkdirSync(join(home, group));
    for (const [name, text] of Object.entries(strategies)) writeFileSync(join(home, group, `${name}.yaml`), text);
  }
}, 120_000);

afterAll(async () => {
  await sandbox?.stop();
  rmSync(home, { recursive: true, force: true });
});

/** Lets the daemon trade; the candle of each slot stands still at what feeds and pools said then. */
async function trade(): Promise<readonly number[]> {
  const pairs = Object.keys(POOLS) as readonly Pair[];
  const lines = new Map([...SYMBOLS, ...pairs].map((name) => [name, ["timestamp,open,high,low,close"]]));
  const note = async (atMs: number): Promise<void> => {
    const { world } = sandbox;
    const ofPools = await Promise.all(pairs.map((pair) => poolPrice(world, pair, POOLS[pair])));
    const prices = [...(await feedPrices(world, SYMBOLS)), ...ofPools];
    for (const [index, kept] of [...lines.values()].entries())
      kept.push([atMs, ...Array.from({ length: 4 }, () => prices[index])].join(","));
  };
  // Right after a slot, so that the first one that it trades is the first one that is written down.
  await sleep(SLOT_MS - (Date.now() % SLOT_MS) + 500);
  const daemon = start(home, ["start"], env());
  const slots: number[] = [];
  for (let slot = 0; slot < SLOTS; slot += 1) {
    await sleep(SLOT_MS - ((Date.now() + LEAD_MS) % SLOT_MS));
    const slotMs = Math.ceil(Date.now() / SLOT_MS) * SLOT_MS;
    // What stands before the first slot is never traded on: a candle for the beginning.
    if (slot === 0) await note(slotMs - SLOT_MS);
    for (let step = 0; step < STEPS; step += 1) await sandbox.market.step();
    expect(Date.now(), "the market moved into the slot: the machine is too busy").toBeLessThan(slotMs);
    await note(slotMs);
    slots.push(slotMs);
    if (daemon.process.exitCode !== null) expect(await daemon.ended).toBeUndefined();
  }
  await sleep((slots.at(-1) ?? 0) + SLOT_MS - 2_000 - Date.now());
  daemon.process.kill("SIGTERM");
  expect((await daemon.ended).code).toBe(0);
  for (const [name, text] of lines) writeFileSync(fileOf(name), text.join("\n"));
  return slots;
}

const fileOf = (name: string): string => join(home, `${name.replace("/", "-")}.csv`);

const tokenShape = z.union([z.string(), z.object({ symbol: z.string() }).transform(({ symbol }) => symbol)]);
const swapShape = z.object({
  ...{ state: z.string(), sold: z.string().nullable(), bought: z.string().nullable() },
  ...{ sell: tokenShape, buy: tokenShape, hash: z.string().nullish() },
});
const slotShape = z.object({
  ...{ strategy: z.string(), slot: z.string(), state: z.string(), reason: z.string().nullable() },
  swaps: z.array(swapShape),
});
type Slot = z.infer<typeof slotShape>;
type Swap = z.infer<typeof swapShape>;

/** The dollars of a swap, each of which has a token that is worth one on one side. */
function dollarsOf({ sell, buy, sold, bought }: Swap): number {
  const [symbol, raw] = sell === "WETH" || sell === "WBTC" ? [buy, bought] : [sell, sold];
  return Number(raw) / 10 ** sandbox.world.tokens[tokenNames.parse(symbol)].decimals;
}
const tokenNames = z.enum(SYMBOLS);

const groupOf = (strategy: string) => Object.values(GROUPS).find(({ strategies }) => strategy in strategies);

/** By strategy and slot, of the slots that were played. */
function byPlace(slots: readonly Slot[], played: readonly number[]): ReadonlyMap<string, Slot> {
  const inside = slots.filter(({ slot }) => played.includes(Date.parse(slot)));
  return new Map(inside.map((slot) => [`${slot.strategy} ${slot.slot}`, slot]));
}

async function backtested(group: keyof typeof GROUPS, played: readonly number[]): Promise<readonly Slot[]> {
  const [first = 0, last = 0] = [played[0], played.at(-1)];
  const { poolFee, pools } = GROUPS[group];
  const prices = [
    ...SYMBOLS.flatMap((symbol) => ["--prices", `${symbol}=${fileOf(symbol)}`]),
    ...pools.flatMap((pair) => ["--pool-prices", `${pair}=${fileOf(pair)}`]),
  ];
  const balances = ["200000 USDC", "100000 DAI", "100000 USDT", "50 WETH", "2 WBTC", "100 ETH"];
  const span = ["--from", new Date(first - SLOT_MS).toISOString(), "--until", new Date(last + SLOT_MS).toISOString()];
  const model = ["--pool-fee", poolFee, "--depth", "50000000 USD"];
  const { code, out, err } = await run(
    home,
    [
      ...["backtest", "--strategy", join(home, group), "--json", "--slots", ...prices, ...span, ...model],
      ...balances.flatMap((amount) => ["--balance", amount]),
    ],
    env(),
  );
  expect(code, `${out}${err}`).toBe(0);
  return z.object({ slots: z.array(slotShape) }).parse(JSON.parse(out)).slots;
}

/** Whether a swap went through pools alone whose prices the backtest was given. */
async function tookKnownPath(strategy: string, hash: string): Promise<boolean> {
  const known = (groupOf(strategy)?.pools ?? []).flatMap((pair) => poolsOf(sandbox.world, pair, POOLS[pair]));
  const receipt = await createRpc(sandbox.world.rpcUrl).call("eth_getTransactionReceipt", hash);
  const touched = z.object({ logs: z.array(z.object({ address: z.string() })) }).parse(receipt).logs;
  const pools = sandbox.world.pools.filter(({ address }) => touched.some((log) => log.address === address));
  expect(pools, hash).not.toEqual([]);
  return pools.every((pool) => known.includes(pool));
}

const bpsBetween = (one: string, other: string): number => (Number(one) / Number(other) - 1) * 10_000;

test("on the feed of a sandbox it decides the daemon's slots, amounts and reasons; fills within 5 basis points", {
  timeout: SLOTS * SLOT_MS * 1.5 + 300_000,
}, async () => {
  const played = await trade();
  const { code, out, err } = await run(home, ["history", "--json", "--limit", "100000"], env());
  expect(code, `${out}${err}`).toBe(0);
  const daemon = byPlace(z.object({ runs: z.array(slotShape) }).parse(JSON.parse(out)).runs, played);
  const both = await Promise.all(GROUP_NAMES.map((group) => backtested(group, played)));
  const backtest = byPlace(both.flat(), played);
  const ends = (of: ReadonlyMap<string, Slot>) =>
    Object.fromEntries([...of].map(([place, { state, reason }]) => [place, `${state} ${reason ?? ""}`]).sort());
  expect(ends(backtest)).toEqual(ends(daemon));
  const fills: { readonly strategy: string; readonly bps: number; readonly isKnown: boolean }[] = [];
  const amounts: string[] = [];
  const missed = new Map<unknown, number>();
  const bySlot = ([, one]: readonly [string, Slot], [, other]: readonly [string, Slot]) =>
    one.slot.localeCompare(other.slot);
  for (const [place, real] of [...daemon].sort(bySlot)) {
    for (const [position, swap] of real.swaps.entries()) {
      const modelled = backtest.get(place)?.swaps[position];
      if (swap.sold === null || swap.bought === null || !modelled?.sold || !modelled.bought) continue;
      // What a mix sells follows from what was brought before: by as many dollars as that was off, it may be off.
      const group = groupOf(real.strategy);
      const before = missed.get(group) ?? 0;
      const apart = (Math.abs(bpsBetween(modelled.sold, swap.sold)) / 10_000) * dollarsOf(swap);
      if (MIXES.has(real.strategy) ? apart > before : modelled.sold !== swap.sold)
        amounts.push(
          `${place}: ${modelled.sold} instead of ${swap.sold}, after fills that were $${before.toFixed(4)} off`,
        );
      const [mine, theirs] = [Number(modelled.bought) / Number(modelled.sold), Number(swap.bought) / Number(swap.sold)];
      const bps = (mine / theirs - 1) * 10_000;
      missed.set(group, before + (Math.abs(bps) / 10_000) * dollarsOf(swap));
      fills.push({ strategy: real.strategy, bps, isKnown: await tookKnownPath(real.strategy, swap.hash ?? "") });
    }
  }
  const shown = fills
    .map(({ strategy, bps, isKnown }) => `${strategy} ${bps.toFixed(2)}${isKnown ? "" : " by another path"}`)
    .join(", ");
  console.log(`${daemon.size} slots; backtest against daemon in bp: ${shown}; ends ${JSON.stringify(ends(daemon))}`);
  expect(amounts).toEqual([]);
  expect(fills.length).toBeGreaterThanOrEqual(SLOTS);
  expect(fills.filter(({ isKnown }) => isKnown).length).toBeGreaterThan(SLOTS);
  // In the deepest pool nothing takes another path.
  const inDeepest = fills.filter(({ strategy }) => groupOf(strategy)?.poolFee === GROUPS.ether.poolFee);
  expect(inDeepest.filter(({ isKnown }) => !isKnown)).toEqual([]);
  expect(inDeepest.filter(({ strategy }) => MIXES.has(strategy)).length).toBeGreaterThan(1);
  expect(fills.some(({ strategy, isKnown }) => isKnown && !(strategy in GROUPS.ether.strategies))).toBe(true);
  // The service takes another path where it brings more than the one that the backtest knows.
  const isFar = ({ bps, isKnown }: (typeof fills)[number]) => (isKnown ? Math.abs(bps) : bps) >= MOST_BPS;
  expect(fills.filter(isFar)).toEqual([]);
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createRpc } from "../../src/sandbox/rpc.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import type { SandboxPool } from "../../src/sandbox/world.ts";
import { writeWallet } from "../support/wallet-files.ts";
import { WIDE_POLICY } from "../support/wide-policy.ts";
import { writeHome } from "./support/home.ts";
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
/** A small trade of a mix after a large one: some basis points of the large one are many of the small one. */
const MOST_AFTER_FILLS_BPS = 100;
const SYMBOLS = ["WETH", "USDC", "DAI", "WBTC", "USDT"] as const;
const LATEST_ROUND_DATA = "0xfeaf968c";
const SLOT0 = "0x3850c7bd";
const GET_RESERVES = "0x0902f1ac";
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
  dai: {
    poolFee: "0.3%",
    pools: ["WETH/DAI"],
    strategies: {
      capped: `kind: dca\nsell: "40 DAI"\nbuy: WETH\nbudget: { total: "100 DAI" }\n${common}`,
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
const POLICY = WIDE_POLICY.replace('"1000 USD"', '"20000 USD"').replace('"100000 USD"', '"100000000 USD"');

let sandbox: Sandbox;
const home = mkdtempSync(join(tmpdir(), "swapd-backtest-daemon-"));
const env = () => ({ HOME_RPC: sandbox.world.rpcUrl, SWAPD_CONFIG: join(home, "swapd.yaml") });

beforeAll(async () => {
  sandbox = await startSandbox({
    ...{ directory: join(home, "sandbox"), port: 0, blockTimeSeconds: 0.5, seed: 7, market: false },
  });
  writeHome(home, {
    ...{ world: sandbox.world, mode: "live", policy: POLICY },
    wallets: "{ main: { keystore: { file: wallet.json }, password: { file: wallet.pass } } }",
    strategies: { ...GROUPS.ether.strategies, ...GROUPS.dai.strategies, ...GROUPS.bitcoin.strategies },
    timing: "quoteLifetime: 20s, permitLifetime: 60s, pollInterval: 250ms",
  });
  writeWallet(home, sandbox.world.wallet.privateKey);
  for (const [group, { strategies }] of Object.entries(GROUPS)) {
    mkdirSync(join(home, group));
    for (const [name, text] of Object.entries(strategies)) writeFileSync(join(home, group, `${name}.yaml`), text);
  }
}, 120_000);

afterAll(async () => {
  await sandbox?.stop();
  rmSync(home, { recursive: true, force: true });
});

/** What the feeds say now, in the order of the symbols, with eight decimals. */
async function feedPrices(): Promise<readonly string[]> {
  const rpc = createRpc(sandbox.world.rpcUrl);
  const answers = await rpc.batch(
    SYMBOLS.map((symbol) => ({
      ...{ method: "eth_call", params: [{ to: sandbox.world.tokens[symbol].feed, data: LATEST_ROUND_DATA }, "latest"] },
    })),
  );
  return answers.map((answer) => {
    const raw = BigInt(`0x${z.string().parse(answer).slice(66, 130)}`);
    return `${raw / 10n ** 8n}.${(raw % 10n ** 8n).toString().padStart(8, "0")}`;
  });
}

/** What the first token of a pair costs in the second one in a pool as it stands now, before its fee. */
async function priceIn({ kind, address, token0, token1 }: SandboxPool, base: string): Promise<number> {
  const { tokens, rpcUrl } = sandbox.world;
  const call = { to: address, data: kind === 1 ? GET_RESERVES : SLOT0 };
  const answer = z.string().parse(await createRpc(rpcUrl).call("eth_call", call, "latest"));
  const [one, two] = [2, 66].map((start) => Number(BigInt(`0x${answer.slice(start, start + 64)}`)));
  const ratio = kind === 1 ? (two ?? 0) / (one ?? 0) : ((one ?? 0) / 2 ** 96) ** 2;
  const price = ratio * 10 ** (tokens[token0].decimals - tokens[token1].decimals);
  return token0 === base ? price : 1 / price;
}

function poolsOf(pair: Pair): readonly SandboxPool[] {
  return sandbox.world.pools.filter(
    ({ feePips, token0, token1 }) =>
      feePips === POOLS[pair] && [`${token0}/${token1}`, `${token1}/${token0}`].includes(pair),
  );
}

/** Where pools of one fee are there twice, that of V2 and that of V3, the cheaper one counts: who buys goes there. */
async function poolPrice(pair: Pair): Promise<string> {
  const [base = ""] = pair.split("/");
  return Math.min(...(await Promise.all(poolsOf(pair).map((pool) => priceIn(pool, base))))).toFixed(12);
}

/** Lets the daemon trade; the candle of each slot stands still at what feeds and pools said then. */
async function trade(): Promise<readonly number[]> {
  const pairs = Object.keys(POOLS) as readonly Pair[];
  const lines = new Map([...SYMBOLS, ...pairs].map((name) => [name, ["timestamp,open,high,low,close"]]));
  const note = async (atMs: number): Promise<void> => {
    const prices = [...(await feedPrices()), ...(await Promise.all(pairs.map(poolPrice)))];
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

const slotShape = z.object({
  ...{ strategy: z.string(), slot: z.string(), state: z.string(), reason: z.string().nullable() },
  swaps: z.array(
    z.object({
      ...{ state: z.string(), sold: z.string().nullable(), bought: z.string().nullable() },
      hash: z.string().nullish(),
    }),
  ),
});
type Slot = z.infer<typeof slotShape>;

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
  const group = Object.values(GROUPS).find(({ strategies }) => strategy in strategies);
  const known = (group?.pools ?? []).flatMap((pair) => poolsOf(pair).map(({ address }) => address));
  const receipt = await createRpc(sandbox.world.rpcUrl).call("eth_getTransactionReceipt", hash);
  const touched = z.object({ logs: z.array(z.object({ address: z.string() })) }).parse(receipt).logs;
  const pools = sandbox.world.pools.filter(({ address }) => touched.some((log) => log.address === address));
  expect(pools, hash).not.toEqual([]);
  return pools.every(({ address }) => known.includes(address));
}

const bpsBetween = (one: string, other: string): number => (Number(one) / Number(other) - 1) * 10_000;

test("on the feed of a sandbox it decides the daemon's slots, amounts and reasons; fills within 5 basis points", {
  timeout: SLOTS * SLOT_MS * 1.5 + 300_000,
}, async () => {
  const played = await trade();
  const { code, out, err } = await run(home, ["history", "--json", "--limit", "100000"], env());
  expect(code, `${out}${err}`).toBe(0);
  const daemon = byPlace(z.object({ runs: z.array(slotShape) }).parse(JSON.parse(out)).runs, played);
  const both = await Promise.all((["ether", "dai", "bitcoin"] as const).map((group) => backtested(group, played)));
  const backtest = byPlace(both.flat(), played);
  const ends = (of: ReadonlyMap<string, Slot>) =>
    Object.fromEntries([...of].map(([place, { state, reason }]) => [place, `${state} ${reason ?? ""}`]).sort());
  expect(ends(backtest)).toEqual(ends(daemon));
  const fills: { readonly strategy: string; readonly bps: number; readonly isKnown: boolean }[] = [];
  const amounts: string[] = [];
  let isFirstOfMix = true;
  for (const [place, real] of [...daemon].sort(([one], [other]) => one.localeCompare(other))) {
    for (const [position, swap] of real.swaps.entries()) {
      const modelled = backtest.get(place)?.swaps[position];
      if (swap.sold === null || swap.bought === null || !modelled?.sold || !modelled.bought) continue;
      // What a mix sells after its first trade follows from what that brought.
      const isExact = real.strategy !== "mix" || isFirstOfMix;
      if (real.strategy === "mix") isFirstOfMix = false;
      const apart = bpsBetween(modelled.sold, swap.sold);
      if (isExact ? modelled.sold !== swap.sold : Math.abs(apart) > MOST_AFTER_FILLS_BPS)
        amounts.push(`${place}: ${modelled.sold} instead of ${swap.sold} (${apart.toFixed(2)} bp)`);
      const [mine, theirs] = [Number(modelled.bought) / Number(modelled.sold), Number(swap.bought) / Number(swap.sold)];
      const isKnown = await tookKnownPath(real.strategy, swap.hash ?? "");
      fills.push({ strategy: real.strategy, bps: (mine / theirs - 1) * 10_000, isKnown });
    }
  }
  const shown = fills
    .map(({ strategy, bps, isKnown }) => `${strategy} ${bps.toFixed(2)}${isKnown ? "" : " by another path"}`)
    .join(", ");
  console.log(`${daemon.size} slots; backtest against daemon in bp: ${shown}; ends ${JSON.stringify(ends(daemon))}`);
  expect(amounts).toEqual([]);
  expect(fills.length).toBeGreaterThanOrEqual(SLOTS);
  expect(fills.filter(({ isKnown }) => isKnown).length).toBeGreaterThan(SLOTS);
  expect(fills.some(({ strategy, isKnown }) => isKnown && !(strategy in GROUPS.ether.strategies))).toBe(true);
  // The service takes another path where it brings more than the one that the backtest knows.
  const isFar = ({ bps, isKnown }: (typeof fills)[number]) => (isKnown ? Math.abs(bps) : bps) >= MOST_BPS;
  expect(fills.filter(isFar)).toEqual([]);
});

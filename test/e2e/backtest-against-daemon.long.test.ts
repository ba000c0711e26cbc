import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createRpc } from "../../src/sandbox/rpc.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { writeWallet } from "../support/wallet-files.ts";
import { WIDE_POLICY } from "../support/wide-policy.ts";
import { writeHome } from "./support/home.ts";
import { run, start } from "./support/swapd.ts";

// A live daemon trades in a sandbox whose market moves before each slot and rests while it is traded. Its feed is written
// down as candles, and the same strategies are played over them: the same slots, amounts and reasons, and nearly the same
// fills. A play for each group, because their pools keep different fees.

const SLOTS = Number(process.env.SWAPD_BACKTEST_SLOTS ?? 8);
const SLOT_SECONDS = 30;
const SLOT_MS = SLOT_SECONDS * 1_000;
const STEPS = 8;
const LEAD_MS = 8_000;
const MOST_BPS = 5;
/** The market brings a pool back to the feed once it is half its fee away: 15 bp in pools that keep 0.3 %. */
const MOST_OF_DEAR_POOLS_BPS = 20;
/** A small trade of a mix after a large one: some basis points of the large one are many of the small one. */
const MOST_AFTER_FILLS_BPS = 100;
const SYMBOLS = ["WETH", "USDC", "DAI", "WBTC", "USDT"] as const;
const LATEST_ROUND_DATA = "0xfeaf968c";

const common = `wallet: main
schedule: { every: ${SLOT_SECONDS}s }
retry_for: 20s
limits: { slippage: 2%, price_impact: 1% }
execution: { gasless: never }
`;
const GROUPS = {
  ether: {
    poolFee: "0.05%",
    strategies: {
      buy: `kind: dca\nsell: "50 USDC"\nbuy: WETH\n${common}`,
      gain: `kind: threshold\nsell: "0.1 WETH"\nbuy: USDC\nwhen: { crosses_above: "3010 USDC" }\nrearm: { below: "3005 USDC", cooldown: 1s }\n${common}`,
    },
  },
  dai: {
    poolFee: "0.3%",
    strategies: {
      capped: `kind: dca\nsell: "40 DAI"\nbuy: WETH\nbudget: { total: "100 DAI" }\n${common}`,
    },
  },
  bitcoin: {
    poolFee: "0.31%",
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

/** Lets the daemon trade; the candle of each slot stands still at what the feed said then. */
async function trade(): Promise<readonly number[]> {
  const lines = new Map(SYMBOLS.map((symbol) => [symbol, ["timestamp,open,high,low,close"]]));
  const note = async (atMs: number): Promise<void> => {
    const prices = await feedPrices();
    for (const [index, symbol] of SYMBOLS.entries())
      lines.get(symbol)?.push([atMs, ...Array.from({ length: 4 }, () => prices[index])].join(","));
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
  for (const [symbol, text] of lines) writeFileSync(join(home, `${symbol}.csv`), text.join("\n"));
  return slots;
}

const slotShape = z.object({
  ...{ strategy: z.string(), slot: z.string(), state: z.string(), reason: z.string().nullable() },
  swaps: z.array(z.object({ state: z.string(), sold: z.string().nullable(), bought: z.string().nullable() })),
});
type Slot = z.infer<typeof slotShape>;

/** By strategy and slot, of the slots that were played. */
function byPlace(slots: readonly Slot[], played: readonly number[]): ReadonlyMap<string, Slot> {
  const inside = slots.filter(({ slot }) => played.includes(Date.parse(slot)));
  return new Map(inside.map((slot) => [`${slot.strategy} ${slot.slot}`, slot]));
}

async function backtested(group: keyof typeof GROUPS, played: readonly number[]): Promise<readonly Slot[]> {
  const [first = 0, last = 0] = [played[0], played.at(-1)];
  const prices = SYMBOLS.flatMap((symbol) => ["--prices", `${symbol}=${join(home, `${symbol}.csv`)}`]);
  const balances = ["200000 USDC", "100000 DAI", "100000 USDT", "50 WETH", "2 WBTC", "100 ETH"];
  const span = ["--from", new Date(first - SLOT_MS).toISOString(), "--until", new Date(last + SLOT_MS).toISOString()];
  const model = ["--pool-fee", GROUPS[group].poolFee, "--depth", "50000000 USD"];
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

const bpsBetween = (one: string, other: string): number => (Number(one) / Number(other) - 1) * 10_000;

test("on the feed of a sandbox it decides the daemon's slots, amounts and reasons; fills within 5 basis points in cheap pools", {
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
  const fills: { readonly strategy: string; readonly bps: number }[] = [];
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
      fills.push({ strategy: real.strategy, bps: (mine / theirs - 1) * 10_000 });
    }
  }
  const largest = (of: typeof fills): number => Math.max(...of.map(({ bps }) => Math.abs(bps)));
  const isDear = ({ strategy }: (typeof fills)[number]): boolean => !(strategy in GROUPS.ether.strategies);
  const shown = fills.map(({ strategy, bps }) => `${strategy} ${bps.toFixed(2)}`).join(", ");
  console.log(`${daemon.size} slots; backtest against daemon in bp: ${shown}; ends ${JSON.stringify(ends(daemon))}`);
  expect(amounts).toEqual([]);
  expect(fills.length).toBeGreaterThanOrEqual(SLOTS);
  expect(largest(fills.filter((fill) => !isDear(fill)))).toBeLessThan(MOST_BPS);
  expect(largest(fills.filter(isDear))).toBeLessThan(MOST_OF_DEAR_POOLS_BPS);
});

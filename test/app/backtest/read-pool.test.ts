import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { id } from "ethers";
import { describe, expect, it } from "vitest";
import { priceAfter } from "../../../src/app/backtest/pool-events.ts";
import { readPool } from "../../../src/app/backtest/read-pool.ts";
import { loadConfiguration } from "../../../src/app/load-configuration.ts";
import { ChainReadError } from "../../../src/domain/chain-read-error.ts";
import { type Hex, parseAddress } from "../../../src/domain/money/address.ts";
import { backtestHome, csvOf, flat } from "./support/home.ts";
import { MAIN, START_MS } from "./support/main-file.ts";

const V3_SWAP = "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67";
const V2_SYNC: Hex = "0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1";
const SOLIDLY_SYNC: Hex = id("Sync(uint256,uint256)") as Hex;
const POOL = "0xd0b53d9277642d899df5c87a3966a349a798f224";
const WETH = "0x4200000000000000000000000000000000000006";
const USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
const word = (value: bigint): string => value.toString(16).padStart(64, "0");
/** Of WETH (18 decimals) in USDC (6): the root of so many micro-dollars for 10^18. */
const dataOf = (ratio: number): Hex => {
  const sqrtX96 = BigInt(Math.round(Math.sqrt(ratio) * 2 ** 96));
  return `0x${word(1n)}${word(2n)}${word(sqrtX96)}${word(3n)}${word(4n)}`;
};
const swapData = (dollars: number): Hex => dataOf(dollars / 1e12);
/** The same where the dollar is the first token. */
const turnedData = (dollars: number): Hex => dataOf(1e12 / dollars);

describe("the price after an event", () => {
  const decimals = { first: 18, second: 6 };
  it("is the root price of V3 and the reserves of V2 and of Solidly, in whole tokens", () => {
    const v3 = priceAfter({ topics: [V3_SWAP], data: swapData(3_000) }, decimals);
    expect(Number(v3) / 1e18).toBeCloseTo(3_000, 6);
    const reserves: Hex = `0x${word(5n * 10n ** 18n)}${word(15_000n * 10n ** 6n)}`;
    for (const topic of [V2_SYNC, SOLIDLY_SYNC])
      expect(priceAfter({ topics: [topic], data: reserves }, decimals)).toBe(3_000n * 10n ** 18n);
  });

  it("is none of other events, of cut data, and of an empty pool", () => {
    expect(priceAfter({ topics: [`0x${"11".repeat(32)}`], data: swapData(1) }, decimals)).toBeUndefined();
    expect(priceAfter({ topics: [V3_SWAP], data: "0x12" }, decimals)).toBeUndefined();
    expect(priceAfter({ topics: [V2_SYNC], data: `0x${word(0n)}${word(5n)}` }, decimals)).toBeUndefined();
    expect(priceAfter({ topics: [], data: "0x" }, decimals)).toBeUndefined();
  });
});

const BLOCK_SECONDS = 2;
const NEWEST = 9_500;
const secondsOf = (block: number): number => START_MS / 1_000 + block * BLOCK_SECONDS;

/** A chain with a swap in every hundredth block, each a dollar higher. */
function fakeChain(tokens: readonly string[] = [WETH, USDC], data = swapData) {
  const asked: number[] = [];
  let failsAt = Number.POSITIVE_INFINITY;
  const head = (number: number) => ({
    number,
    hash: `0x${"00".repeat(32)}` as Hex,
    timestamp: secondsOf(number),
    baseFeePerGas: 0n,
  });
  return {
    asked,
    failFrom: (block: number) => {
      failsAt = block;
    },
    reads: {
      finalized: async () => head(NEWEST),
      block: async (number: number) => (number > NEWEST ? undefined : head(number)),
      call: async ({ data }: { data: Hex }) => {
        const token = tokens[data === "0x0dfe1681" ? 0 : 1];
        return token === undefined ? undefined : (`0x${token.slice(2).padStart(64, "0")}` as Hex);
      },
      logs: async ({ fromBlock, toBlock }: { fromBlock: number; toBlock: number }) => {
        if (toBlock >= failsAt) throw new ChainReadError("unreachable", "the node went away");
        asked.push(fromBlock);
        const blocks = Array.from({ length: toBlock - fromBlock + 1 }, (_, index) => fromBlock + index);
        const address = parseAddress(POOL);
        if (address === undefined) throw new Error("no address");
        return blocks
          .filter((block) => block % 100 === 0)
          .map((blockNumber) => ({
            ...{ address, topics: [V3_SWAP as Hex], data: data(3_000 + blockNumber / 100), logIndex: 0 },
            ...{ transactionHash: `0x${"00".repeat(32)}` as Hex, blockNumber },
          }));
      },
    },
  };
}

function configured(main = MAIN) {
  const home = backtestHome({ strategy: "", prices: csvOf(flat(1, 2)) });
  home.write("swapd.yaml", main);
  const loaded = loadConfiguration(join(home.folder, "swapd.yaml"), {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return { configuration: loaded.configuration, folder: join(home.folder, "kept") };
}
const SPAN = { pool: POOL, fromMs: START_MS, untilMs: Number.MAX_SAFE_INTEGER, stepMs: 60_000 };

describe("a pool's prices out of its swaps", () => {
  it("are candles of every minute up to the final block, where nothing was swapped at the last price", async () => {
    const { configuration, folder } = configured();
    const { base, quote, read } = await readPool(fakeChain().reads, configuration, { ...SPAN, folder });
    expect([base.symbol, typeof quote === "string" ? quote : quote.symbol]).toEqual(["WETH", "USDC"]);
    // 9,500 blocks of 2 s, a swap every 200 s
    expect(read.candles).toHaveLength(Math.floor((NEWEST * BLOCK_SECONDS) / 60));
    const dollars = read.candles
      .slice(0, 5)
      .map(({ open, close }) => [open, close].map((usd) => Math.round(Number(usd) / 1e18)));
    expect(dollars).toEqual([
      [3_000, 3_000],
      [3_000, 3_000],
      [3_000, 3_000],
      [3_000, 3_001],
      [3_001, 3_001],
    ]);
    expect(read.notes[0]).toContain("96 swaps of blocks 0 to 9500");
  });

  it("begin after its first swap: what a pool asked before it, no later swap says", async () => {
    const { configuration, folder } = configured();
    const [chain, early, newest] = [fakeChain(), 10, 100];
    const finalized = async () => chain.reads.block(newest).then((head) => head ?? chain.reads.finalized());
    const logs = async () =>
      (await chain.reads.logs({ fromBlock: 0, toBlock: 0 })).map((log) => ({ ...log, blockNumber: early }));
    const { read } = await readPool({ ...chain.reads, finalized, logs }, configuration, { ...SPAN, folder });
    // The swap is 20 s into the first minute.
    expect(read.candles.map(({ atMs }) => (atMs - START_MS) / 60_000)).toEqual([1, 2]);
  });

  it("are turned over where the first token is the money", async () => {
    const { configuration, folder } = configured();
    const { base, read } = await readPool(fakeChain([USDC, WETH], turnedData).reads, configuration, {
      ...SPAN,
      folder,
    });
    expect(base.symbol).toBe("WETH");
    const [first] = read.candles;
    expect(Number(first?.open) / 1e18).toBeCloseTo(3_000, 6);
    expect(
      read.candles.every(({ open, high, low, close }) => low <= open && low <= close && high >= open && high >= close),
    ).toBe(true);
  });

  it("are read on where a node went away, and what is kept is not asked for again", async () => {
    const { configuration, folder } = configured();
    const chain = fakeChain();
    chain.failFrom(6_000);
    const broken = readPool(chain.reads, configuration, { ...SPAN, folder });
    await expect(broken).rejects.toMatchObject({
      exitCode: 75,
      message: expect.stringContaining("goes on from there"),
    });
    expect(chain.asked).toEqual([0, 2_000, 4_000]);
    const again = fakeChain();
    const { read } = await readPool(again.reads, configuration, { ...SPAN, folder });
    // Nothing older shows that the node has all of the first piece, and the last one is not whole yet.
    expect(again.asked).toEqual([0, 6_000, 8_000]);
    const whole = await readPool(fakeChain().reads, configuration, { ...SPAN, folder: join(folder, "other") });
    expect(read.candles).toEqual(whole.read.candles);
  });

  it("are read anew where a node answered that there are no logs, since it keeps none of old blocks", async () => {
    const { configuration, folder } = configured();
    const [pruned, archive] = [fakeChain(), fakeChain()];
    const logs = async (asked: { fromBlock: number; toBlock: number }) =>
      (await pruned.reads.logs(asked)).filter(({ blockNumber }) => blockNumber > 5_000);
    const first = await readPool({ ...pruned.reads, logs }, configuration, { ...SPAN, folder });
    expect(first.read.candles.length).toBeLessThan(((NEWEST - 5_000) * BLOCK_SECONDS) / 60);
    const { read } = await readPool(archive.reads, configuration, { ...SPAN, folder });
    expect(archive.asked).toEqual([0, 2_000, 4_000, 8_000]);
    const whole = await readPool(fakeChain().reads, configuration, { ...SPAN, folder: join(folder, "other") });
    expect(read.candles).toEqual(whole.read.candles);
  });

  it("say where they begin when that is days after what was asked for", async () => {
    const { configuration, folder } = configured();
    const chain = fakeChain();
    const day = 86_400_000;
    const head = async (number: number) => {
      const found = await chain.reads.block(number);
      return found && { ...found, timestamp: START_MS / 1_000 + number * 60 };
    };
    const finalized = async () => (await head(NEWEST)) ?? chain.reads.finalized();
    const logs = async (asked: { fromBlock: number; toBlock: number }) =>
      (await chain.reads.logs(asked)).filter(({ blockNumber }) => blockNumber >= 3_000);
    const reads = { ...chain.reads, block: head, finalized, logs };
    const { read } = await readPool(reads, configuration, { ...SPAN, folder });
    expect(read.notes[1]).toContain("no swap before 2");
    expect(read.notes[1]).toContain("the pool is younger than --from, or the node keeps no logs of older blocks");
    const later = await readPool(reads, configuration, { ...SPAN, fromMs: START_MS + 2 * day, folder });
    expect(later.read.notes).toHaveLength(1);
  });

  it("survive a kill in the middle of a line", async () => {
    const { configuration, folder } = configured();
    const { read } = await readPool(fakeChain().reads, configuration, { ...SPAN, folder });
    const file = join(folder, readdirSync(folder)[0] ?? "");
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    writeFileSync(file, [lines[0], lines[1]?.slice(0, 40)].join("\n"));
    const chain = fakeChain();
    const after = await readPool(chain.reads, configuration, { ...SPAN, folder });
    expect(chain.asked).toEqual([0, 4_000, 6_000, 8_000]);
    expect(after.read.candles).toEqual(read.candles);
    appendFileSync(file, "{}\nnonsense\n");
    expect((await readPool(fakeChain().reads, configuration, { ...SPAN, folder })).read.candles).toEqual(read.candles);
  });

  it("are kept as what makes their candles, however many swaps a minute has", async () => {
    const { configuration, folder } = configured();
    const { reads } = fakeChain();
    const [address, height] = [parseAddress(POOL), (block: number) => 3_000 + ((block * 37) % 101)];
    if (address === undefined) throw new Error("no address");
    const logs: typeof reads.logs = async ({ fromBlock, toBlock }) =>
      Array.from({ length: toBlock - fromBlock + 1 }, (_, index) => ({
        ...{ address, topics: [V3_SWAP as Hex], data: swapData(height(fromBlock + index)), logIndex: 0 },
        ...{ transactionHash: `0x${"00".repeat(32)}` as Hex, blockNumber: fromBlock + index },
      }));
    const first = await readPool({ ...reads, logs }, configuration, { ...SPAN, folder });
    const dollars = (price = 0n): number => Math.round(Number(price) / 1e18);
    for (const [minute, { open, high, low, close }] of first.read.candles.entries()) {
      const own = Array.from({ length: 30 }, (_, index) => height(minute * 30 + index));
      const all = minute === 0 ? own : [height(minute * 30 - 1), ...own];
      const expected = [all[0], Math.max(...all), Math.min(...all), all.at(-1)];
      expect([open, high, low, close].map(dollars)).toEqual(expected);
    }
    const lines = readFileSync(join(folder, readdirSync(folder)[0] ?? ""), "utf8")
      .trimEnd()
      .split("\n");
    const kept = lines.map((line): { swaps: number; prices: unknown[] } => JSON.parse(line));
    expect(kept.map(({ swaps }) => swaps)).toEqual([2_000, 2_000, 2_000]);
    // 2,000 blocks are parts of 67 or 68 minutes, each with four prices at most.
    for (const { prices } of kept) expect(prices.length).toBeLessThanOrEqual(4 * 68);
    const again = await readPool({ ...reads, logs }, configuration, { ...SPAN, folder });
    expect(again.read).toEqual(first.read);
    expect(again.read.notes[0]).toContain("9501 swaps of blocks 0 to 9500");
  });

  it("are read anew once a token's decimals were put right: what was kept before is off by powers of ten", async () => {
    const own = `0x${"77".repeat(20)}`;
    const withDecimals = (decimals: number) =>
      configured(MAIN.replace(/USDC: [{].*/, `USDC: { address: "${own}", decimals: ${decimals}, peg: USD }`));
    const { configuration, folder } = withDecimals(6);
    const { reads } = fakeChain([WETH, own]);
    const first = await readPool(reads, withDecimals(8).configuration, { ...SPAN, folder });
    expect(Math.round(Number(first.read.candles[0]?.open) / 1e18)).toBe(30);
    const { read } = await readPool(reads, configuration, { ...SPAN, folder });
    const dollars = [read.candles[0], read.candles.at(-1)].map((candle) => Math.round(Number(candle?.open) / 1e18));
    expect(dollars).toEqual([3_000, 3_094]);
  });

  it("of a stable pool, whose reserves are no price, are refused, and those of a volatile one are read", async () => {
    const { configuration, folder } = configured();
    const { reads } = fakeChain();
    const call = (stable: bigint) => async (asked: { data: Hex }) =>
      asked.data === id("stable()").slice(0, 10) ? (`0x${word(stable)}` as Hex) : await reads.call(asked);
    const read = (stable: bigint) =>
      readPool({ ...reads, call: call(stable) }, configuration, { ...SPAN, folder: join(folder, String(stable)) });
    await expect(read(1n)).rejects.toThrow("is a stable one, whose events say no price");
    expect((await read(0n)).read.candles.length).toBeGreaterThan(0);
  });

  it("are asked for elsewhere where no event says a price, whatever else the pool does", async () => {
    const { configuration, folder } = configured();
    const { reads } = fakeChain();
    const logs: typeof reads.logs = async (asked) =>
      (await reads.logs(asked)).map((log) => ({ ...log, topics: [id("Swap()") as Hex] }));
    const read = readPool({ ...reads, logs }, configuration, { ...SPAN, folder });
    await expect(read).rejects.toThrow("had no event that says a price in blocks 0 to 9500");
  });

  it.each([
    ["an address that is none", { ...SPAN, pool: "0x12" }, undefined, "write the pool's address"],
    ["a contract that is no pool", SPAN, [], "is no pool of two tokens"],
    [
      "a pool of a token that is not configured",
      SPAN,
      [WETH, `0x${"77".repeat(20)}`],
      "which is no token of the configuration",
    ],
    [
      "a time that is still to come",
      { ...SPAN, fromMs: secondsOf(NEWEST) * 1_000 + 1 },
      undefined,
      "the newest final block is of",
    ],
  ])("%s is refused in words", async (_, asked, tokens, message) => {
    const { configuration, folder } = configured();
    await expect(readPool(fakeChain(tokens).reads, configuration, { ...asked, folder })).rejects.toThrow(message);
  });
});

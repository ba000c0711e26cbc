import { expect, test } from "vitest";
import { SWAPPED, TRANSFER, topicOf, WITHDRAWAL } from "../../src/audit/events.ts";
import { measureExchange } from "../../src/audit/exchange.ts";
import { checkFills } from "../../src/audit/fills.ts";
import type { SwapRow } from "../../src/audit/rows.ts";
import type { Hex } from "../../src/domain/money/address.ts";
import { ETH, POOL, ROUTER, USDC, WALLET, WETH } from "../support/builders.ts";
import { hash } from "../support/reading-samples.ts";

const ORDERED = 1_000n;
const BACK = 300n;
const BOUGHT = 5n;
const FEE = 10n;
const HASH = hash("ee");

function words(...values: readonly (Hex | bigint)[]): Hex {
  return `0x${values.map((value) => BigInt(value).toString(16).padStart(64, "0")).join("")}`;
}

const swap: SwapRow = {
  ...{ id: "swap", run_id: "run", position: 0, attempt: 0, state: "final", mode: "gasless", intent_id: null },
  ...{ wallet: WALLET, recipient: WALLET, sell_token: USDC.address, sell_symbol: "USDC", sell_decimals: 6 },
  ...{
    buy_token: WETH.address,
    buy_symbol: "WETH",
    buy_decimals: 18,
    amount_in: ORDERED,
    amount_out_min: 1n,
    nonce: 7n,
  },
  ...{ hash: HASH, block_number: 101, sold: ORDERED - BACK, bought: BOUGHT },
  ...{ block_time_seconds: null, swap_fee: FEE, affiliate_fee: 0n },
};

/** Of 1000, 300 came back to the wallet; the event reports `amountIn` of it, and the fee. */
function codesWhere(amountIn: bigint): readonly string[] {
  const log = (address: typeof WALLET, topics: readonly Hex[], data: Hex, logIndex: number) => ({
    ...{ address, topics, data, logIndex, transactionHash: HASH, blockNumber: 101 },
  });
  const moves = [
    [USDC.address, WALLET, POOL, ORDERED],
    [USDC.address, POOL, WALLET, BACK],
    [WETH.address, POOL, WALLET, BOUGHT],
  ] as const;
  const logs = moves.map(([token, from, to, amount], index) =>
    log(token, [TRANSFER, topicOf(from), topicOf(to)], words(amount), index),
  );
  const reported = words(WALLET, USDC.address, WETH.address, amountIn, BOUGHT, FEE, 0n, 0n);
  logs.push(log(ROUTER, [SWAPPED, topicOf(WALLET), words(7n), topicOf(POOL)], reported, logs.length));
  const receipt = { hash: HASH, from: POOL, blockNumber: 101, succeeded: true, cost: 0n, logs };
  return checkFills([swap], {
    receipts: new Map([[HASH, receipt]]),
    wrappedNative: WETH.address,
    settlement: ROUTER,
    valueOf: () => 0n,
    claimedBy: () => [],
    routerOf: () => ROUTER,
    proposedAs: () => undefined,
  }).map(({ code }) => code);
}

test.each([
  ["what was sold", ORDERED - FEE - BACK, []],
  ["the order's amount, as older settlements do", ORDERED - FEE, []],
  ["one less than the transfers", ORDERED - FEE - BACK - 1n, ["EVENT_DIFFERS"]],
  ["one more than the transfers", ORDERED - FEE - BACK + 1n, ["EVENT_DIFFERS"]],
])("where a part of it came back, an event that reports %s", (_what, amountIn, codes) => {
  expect(codesWhere(amountIn)).toEqual(codes);
});

test.each([
  ["a larger payment of another order", [9n, 5n], 5n],
  ["payments below its minimum", [1n, 5n, 3n], 5n],
  ["only parts of it, which are enough together", [3n, 2n], 4n],
])("coins count as bought as far as they were for the recipient, beside %s", (_what, amounts, bought) => {
  const logs = amounts.map((amount, logIndex) => ({
    ...{ address: WETH.address, topics: [WITHDRAWAL, topicOf(POOL)], data: words(amount) },
    ...{ logIndex, transactionHash: HASH, blockNumber: 101 },
  }));
  const receipt = { hash: HASH, from: POOL, blockNumber: 101, succeeded: true, cost: 0n, logs };
  const ofCoins = { ...swap, buy_token: ETH.address, amount_out_min: 4n };
  expect(measureExchange(ofCoins, receipt, { wrapped: WETH.address, value: 0n }).bought).toBe(bought);
});

test("coins count as bought where the wrapped one reports unwrapping as a transfer to nobody, as Arbitrum's does", () => {
  const topics = [TRANSFER, topicOf(POOL), topicOf(ETH.address)];
  const place = { logIndex: 0, transactionHash: HASH, blockNumber: 101 };
  const unwrapping = { address: WETH.address, topics, data: words(5n), ...place };
  const receipt = { hash: HASH, from: POOL, blockNumber: 101, succeeded: true, cost: 0n, logs: [unwrapping] };
  const ofCoins = { ...swap, buy_token: ETH.address, amount_out_min: 4n };
  expect(measureExchange(ofCoins, receipt, { wrapped: WETH.address, value: 0n }).bought).toBe(5n);
});

import { expect, test } from "vitest";
import { checkBalances } from "../../src/audit/balances.ts";
import { claimTransactions } from "../../src/audit/claims.ts";
import { SWAPPED, TRANSFER, topicOf, WITHDRAWAL } from "../../src/audit/events.ts";
import { measureExchange } from "../../src/audit/exchange.ts";
import { checkFills } from "../../src/audit/fills.ts";
import type { Receipt } from "../../src/audit/node-answers.ts";
import { checkClaims } from "../../src/audit/outflows.ts";
import type { SwapRow } from "../../src/audit/rows.ts";
import type { Snapshot } from "../../src/audit/snapshot.ts";
import { type Address, type Hex, toAddress } from "../../src/domain/money/address.ts";
import { ETH, POOL, ROUTER, USDC, WALLET, WETH } from "../support/builders.ts";
import { hash } from "../support/reading-samples.ts";

// One transaction may fill several swaps: a batch of orders, or what owners of two Safes execute at once.

const BATCH = hash("ee");
const SECOND = ROUTER;

const first = {
  ...{ id: "first", state: "final", mode: "gasless", wallet: WALLET, recipient: WALLET, hash: BATCH, nonce: null },
  ...{ sell_token: USDC.address, buy_token: WETH.address, amount_in: 100n, amount_out_min: 7n, intent_id: null },
} as SwapRow;
const second: SwapRow = { ...first, id: "second", wallet: SECOND, recipient: SECOND };

const DAI = toAddress(`0x${"da".repeat(20)}`);

test.each([
  ["of two wallets", {}, []],
  ["of one wallet that have nothing in common", { ...first, sell_token: DAI, buy_token: ETH.address }, []],
  ["of one wallet that buy the same", { ...first, sell_token: DAI }, []],
  ["of one wallet that sell the same", { ...first, buy_token: DAI }, []],
  ["of one wallet that sell more of the same than left it", { ...first, amount_in: 101n }, ["FILL_CLAIMED_TWICE"]],
  ["of which one sells what the other buys", { ...first, sell_token: WETH.address, buy_token: DAI }, []],
  ["of two wallets that deliver to one", { recipient: WALLET }, []],
  ["of which the second was paid too little", { recipient: WALLET, amount_out_min: 9n }, ["FILL_CLAIMED_TWICE"]],
])("swaps %s may be filled at once where enough was sold and paid for each", (_what, change, codes) => {
  const other: SwapRow = { ...second, ...change, id: "second" };
  const moved = { paid: () => 15n, taken: () => 200n };
  expect(checkClaims(new Map([[BATCH, [first, other]]]), moved).map(({ code }) => code)).toEqual(codes);
});

test.each([
  ["delivers to the same recipient", { wallet: SECOND, recipient: WALLET }, [8n, 9n], 0n, { sold: 100n, bought: 8n }],
  ["was paid together with it", { wallet: SECOND, recipient: WALLET }, [17n], 0n, { sold: 100n, bought: 7n }],
  [
    "sells what it buys",
    { wallet: WALLET, sell_token: WETH.address, buy_token: DAI },
    [8n],
    5n,
    { sold: 100n, bought: 8n },
  ],
  ["buys what it sells", { sell_token: DAI, buy_token: USDC.address }, [8n], 0n, { sold: 100n, bought: 8n }],
])("what another one moved that %s is not counted for a swap", (_what, change, payments, away, counted) => {
  const other: SwapRow = { ...second, recipient: WALLET, ...change };
  const moves = [
    [USDC.address, WALLET, POOL, 100n],
    [WETH.address, WALLET, POOL, away],
    ...payments.map((amount) => [WETH.address, POOL, WALLET, amount] as const),
    ...(other.buy_token === USDC.address ? ([[USDC.address, POOL, WALLET, 60n]] as const) : []),
  ] as const;
  const logs = moves.map(([address, from, to, amount], logIndex) => ({
    ...{ address, topics: [TRANSFER, topicOf(from), topicOf(to)], logIndex, transactionHash: BATCH, blockNumber: 7 },
    data: `0x${amount.toString(16).padStart(64, "0")}` as Hex,
  }));
  const receipt: Receipt = { hash: BATCH, from: POOL, blockNumber: 7, succeeded: true, cost: 0n, logs };
  expect(measureExchange(first, receipt, { wrapped: WETH.address, value: 0n }, [other])).toMatchObject(counted);
  const row: SwapRow = { ...first, ...counted, block_number: 7 };
  const sources = {
    ...{ receipts: new Map([[BATCH, receipt]]), wrappedNative: WETH.address, settlement: undefined },
    ...{ valueOf: () => 0n, claimedBy: () => [row, other], routerOf: () => undefined, proposedAs: () => undefined },
  };
  expect(checkFills([row], sources)).toEqual([]);
});

/** Two orders of one wallet that sell the same, and what the settlement tells of each. */
function filledTogether(taken: bigint, nonces: readonly bigint[], payments = [8n, 9n]): readonly string[] {
  const order: SwapRow = { ...first, block_number: 7, nonce: 3n, sold: 100n, bought: 8n, swap_fee: 0n };
  const named = { ...order, affiliate_fee: 0n };
  const rows: SwapRow[] = [named, { ...named, id: "second", nonce: 4n }];
  const words = (...values: readonly (Hex | bigint)[]): Hex =>
    `0x${values.map((value) => BigInt(value).toString(16).padStart(64, "0")).join("")}`;
  const transfers = [[USDC.address, WALLET, POOL, taken] as const].concat(
    payments.map((amount) => [WETH.address, POOL, WALLET, amount]),
  );
  const moves = transfers.map(([address, from, to, amount]) => {
    return { address, topics: [TRANSFER, topicOf(from), topicOf(to)], data: words(amount) };
  });
  const events = nonces.map((nonce, index) => ({
    ...{ address: ROUTER, topics: [SWAPPED, topicOf(WALLET), words(nonce), topicOf(POOL)] },
    data: words(WALLET, USDC.address, WETH.address, 100n, payments[index] ?? 0n, 0n, 0n, 0n),
  }));
  const logs = [...moves, ...events].map((log, logIndex) => ({
    ...log,
    ...{ logIndex, transactionHash: BATCH, blockNumber: 7 },
  }));
  const receipt: Receipt = { hash: BATCH, from: POOL, blockNumber: 7, succeeded: true, cost: 0n, logs };
  const found = checkFills(rows, {
    ...{ receipts: new Map([[BATCH, receipt]]), wrappedNative: WETH.address, settlement: ROUTER },
    ...{ valueOf: () => 0n, claimedBy: () => rows, routerOf: () => ROUTER, proposedAs: () => undefined },
  });
  return found.map(({ code, subject }) => `${code} ${subject}`);
}

test.each([
  ["that the settlement names each", 200n, [4n, 3n], []],
  ["for which less was taken than for both", 150n, [4n, 3n], []],
  ["for which more was taken than for both", 201n, [3n, 4n], ["SOLD_DIFFERS swap first", "SOLD_DIFFERS swap second"]],
  ["of which one is not the named one", 200n, [3n, 5n], ["EVENT_DIFFERS swap second"]],
  ["beside a third of the wallet", 200n, [3n, 4n, 5n], ["EVENT_DIFFERS swap first", "EVENT_DIFFERS swap second"]],
])("two orders of one wallet that sell the same %s", (_what, taken, nonces, codes) => {
  expect(filledTogether(taken, nonces)).toEqual(codes);
});

test("an open order without a nonce is found in the transaction that filled another wallet's", () => {
  const open: SwapRow = { ...second, state: "submitted", hash: null };
  const swaps = new Map([first, open].map((swap) => [swap.id, swap]));
  const snapshot = { swaps, attempts: [], intents: new Map() } as unknown as Snapshot;
  const of = { token: USDC.address, hash: BATCH, blockNumber: 7, out: 100n, in: 0n };
  const flows = [WALLET, SECOND].map((wallet) => ({ ...of, wallet }));
  const claims = claimTransactions(snapshot, { fills: [], flows });
  expect(claims.of(BATCH).map(({ id }) => id)).toEqual(["first", "second"]);
});

test.each([
  ["two wallets are deposits of neither", [WALLET, SECOND], [8n, 9n], [9n, 10n], ["0", "0"]],
  ["two swaps of one wallet are there once", [WALLET, WALLET], [17n], [18n], ["1"]],
] as const)("native coins that one transaction brought %s", (_what, recipients, payments, balances, beyond) => {
  const paid = (amount: bigint, logIndex: number) => ({
    ...{ address: WETH.address, topics: [WITHDRAWAL, `0x${"0".repeat(24)}${POOL.slice(2)}` as Hex], logIndex },
    data: `0x${amount.toString(16).padStart(64, "0")}` as Hex,
    ...{ transactionHash: BATCH, blockNumber: 7 },
  });
  const bought = [first, second].map((swap, index) => ({
    ...{ ...swap, recipient: recipients[index] ?? WALLET },
    buy_token: ETH.address,
    amount_out_min: BigInt(7 + 2 * index),
  }));
  const receipt: Receipt = {
    hash: BATCH,
    from: POOL,
    blockNumber: 7,
    succeeded: true,
    cost: 0n,
    logs: payments.map(paid),
  };
  const baselines = [...new Set(recipients)].map((wallet) => ({
    ...{ wallet, token: ETH.address, symbol: "ETH", decimals: 18, block_number: 1, balance: 1n },
  }));
  const claims = { of: () => bought, hashes: new Set([BATCH]) };
  const sources = {
    ...{ baselines, claims, flows: [], receipts: new Map([[BATCH, receipt]]), ownTransactions: [], tip: 9 },
    ...{
      wrappedNative: WETH.address,
      safes: new Set<Address>(),
      unread: new Map<Address, number>(),
      accepted: { lost: () => 0n },
    },
  };
  const { differences, deposits } = checkBalances(sources, balances);
  expect(differences).toEqual([]);
  const amounts = baselines.map(({ wallet }) => deposits.find((one) => one.wallet === wallet)?.amount ?? "0");
  expect(amounts).toEqual(beyond);
});

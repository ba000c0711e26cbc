import { expect, test } from "vitest";
import { swapdProfile } from "../../../src/adapters/swap-service/swapd/service.ts";
import { type Address, type Hex, toAddress } from "../../../src/domain/money/address.ts";
import { measureFill } from "../../../src/domain/run/measure-fill.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import { readChain } from "../../../src/engine/perform/read-chain.ts";
import { registerStrategies } from "../../../src/engine/register-strategies.ts";
import { HUNDRED_USDC, NOW_MS, POOL, RELAYER, runSample, USDC, WBTC, WETH } from "../../support/builders.ts";
import { addRun } from "../../support/daemon-database.ts";
import { ACCOUNT, createOutside, openLife } from "../../support/engine-life.ts";
import { swapIn, transferLog } from "../../support/reading-samples.ts";

// An older copy was put back in which this order is open. What the newer database signed since is in no row, and the relayer
// fills both in one transaction.

const swap = swapIn("submitted", { wallet: ACCOUNT, recipient: ACCOUNT, mode: "gasless", gasless: "only" });
const least = swap.terms?.amountOutMin ?? 0n;
const order = {
  ...{ owner: ACCOUNT, recipient: ACCOUNT, fromAsset: USDC.address, toAsset: WETH.address, nonce: 7n },
  ...{ deadline: BigInt(Math.floor(NOW_MS / 1_000) + 60), amountOutMin: 1n, gross: HUNDRED_USDC, swapFee: 0n },
  amountOut: least + 7n,
};
type Terms = NonNullable<Swap["terms"]>;
/** what nothing else here trades */
const OTHER = { ...USDC, address: toAddress(`0x${"d1".repeat(20)}`) };
const MUCH_WETH = 5n * 10n ** 18n;

/** @returns what was exchanged where this moves beside the order */
async function filledBeside(hasNonce: boolean, ...moves: Parameters<typeof transferLog>[0][]) {
  return await filledWith(() => [], { hasNonce }, ...moves);
}

/** The same with more swaps in its run, which may be filled by the same transaction. */
async function filledWith(
  others: (filledBy: Hex | undefined) => readonly Swap[],
  { hasNonce = true, alsoNamed = [] }: { hasNonce?: boolean; alsoNamed?: readonly bigint[] },
  ...moves: Parameters<typeof transferLog>[0][]
) {
  const outside = createOutside(NOW_MS);
  const life = openLife(outside);
  await registerStrategies(life.context);
  if (!hasNonce) outside.service.profile = { ...swapdProfile, nonceRecord: undefined, signatureHasNonce: false };
  outside.chain.submitOrder(order, HUNDRED_USDC);
  outside.chain.mine();
  addRun(life.store, runSample({ swaps: [swap, ...others(outside.chain.receipts().at(-1)?.hash)] }));
  const receipt = outside.chain.receipt.bind(outside.chain);
  outside.chain.receipt = async (asked) => {
    const one = await receipt(asked);
    const place = { transactionHash: asked, blockNumber: 101, logIndex: 9 };
    if (one === undefined) return undefined;
    const moved = moves.map((move) => ({ ...transferLog(move), ...place }));
    const named = one.logs
      .filter(({ topics }) => topics[2] === wordFor(order.nonce))
      .flatMap((log) => alsoNamed.map((nonce) => ({ ...log, topics: log.topics.with(2, wordFor(nonce)), ...place })));
    return { ...one, logs: [...one.logs, ...moved, ...named] };
  };
  const seen = await readChain(life.context, swap);
  if (seen.kind !== "observed" || seen.observation.fill === undefined) throw new Error(JSON.stringify(seen));
  const native = { wrapped: life.context.settings.wrappedNative, value: 0n };
  const { sold, bought } = measureFill(seen.observation.fill, swap, native);
  return { sold, bought };
}

const wordFor = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`;
const leaves = (token: Address, from: Address = ACCOUNT) => ({ token, from, to: POOL, amount: 10n ** 5n });
const comes = (token: Address, amount: bigint) => ({ token, from: POOL, to: ACCOUNT, amount });

test.each([true, false])(
  "what an order of no row bought back does not lower what this one sold (nonce: %s)",
  async (hasNonce) => {
    const fill = await filledBeside(hasNonce, leaves(WBTC.address), comes(USDC.address, 60_000_000n));
    // It paid for one of the two, so that the least is certain.
    expect(fill).toEqual({ sold: HUNDRED_USDC, bought: least });
  },
);

test.each([true, false])("what an order of no row bought is not this one's (nonce: %s)", async (hasNonce) => {
  const fill = await filledBeside(hasNonce, leaves(WBTC.address), comes(WETH.address, MUCH_WETH));
  expect(fill).toEqual({ sold: HUNDRED_USDC, bought: order.amountOut });
});

test.each<[string, ReturnType<typeof leaves>]>([
  ["a token that we do not trade", leaves(RELAYER)],
  ["a wallet of others", leaves(WBTC.address, RELAYER)],
  ["a transfer of nothing", { ...leaves(WBTC.address), amount: 0n }],
  ["the token of this order", leaves(USDC.address)],
])("no order of no row is seen in: %s", async (_what, move) => {
  expect(await filledBeside(true, move, comes(WETH.address, 1n))).toMatchObject({ bought: order.amountOut + 1n });
});

test.each(["submitted", "mined"] as const)(
  "what left for a swap of ours that shares no side with it is no order of no row (%s)",
  async (state) => {
    const other = swapIn(state, {
      ...{ id: "run_1.1.1", position: 1, wallet: ACCOUNT, recipient: ACCOUNT, mode: "gasless", gasless: "only" },
      ...{ sell: WBTC, buy: OTHER, gross: 10n ** 5n },
    });
    const others = (hash: Hex | undefined) => [
      hash === undefined || other.fill === undefined ? other : { ...other, fill: { ...other.fill, hash } },
    ];
    const moves = [leaves(WBTC.address), comes(OTHER.address, 60_000_000n)];
    expect(await filledWith(others, {}, ...moves)).toEqual({ sold: HUNDRED_USDC, bought: order.amountOut });
  },
);

test.each<[string, Swap["state"], "gasless" | "self-executed", Pick<Terms, "deadlineSeconds"> | undefined]>([
  ["is sent by itself", "submitted", "self-executed", undefined],
  ["was filled by another transaction", "mined", "gasless", undefined],
  ["was past its deadline", "unknown", "gasless", { deadlineSeconds: Math.floor(NOW_MS / 1_000) - 600 }],
])("a swap that sells as much and %s is not what an order of no row sold", async (_what, state, mode, differs) => {
  const other = swapIn(state, {
    ...{ id: "run_1.1.1", position: 1, wallet: ACCOUNT, recipient: ACCOUNT, mode },
    ...{ sell: WBTC, buy: OTHER, gross: 10n ** 5n },
  });
  const { signatures, terms } = other;
  if (terms === undefined) throw new Error("a swap in this state has terms");
  const late = {
    terms: { ...terms, ...differs },
    signatures: signatures && { ...signatures, permitDeadlineSeconds: 0 },
  };
  const one = differs === undefined ? other : { ...other, ...late };
  const moves = [leaves(WBTC.address), comes(WETH.address, MUCH_WETH)];
  expect(await filledWith(() => [one], {}, ...moves)).toEqual({ sold: HUNDRED_USDC, bought: order.amountOut });
});

// A fork took the first fill back after its token was signed for again, and one transaction fills both.
test.each<[string, bigint[], Awaited<ReturnType<typeof filledBeside>>]>([
  ["says that it was filled too", [8n], { sold: HUNDRED_USDC, bought: order.amountOut }],
  ["does not name is no part of it", [], { sold: 2n * HUNDRED_USDC, bought: order.amountOut + MUCH_WETH }],
])("an open order of the same token which the settlement %s", async (_what, alsoNamed, fill) => {
  const other = swapIn("submitted", {
    ...{ id: "run_1.1.1", position: 1, wallet: ACCOUNT, recipient: ACCOUNT, mode: "gasless", gasless: "only" },
    ...{ sell: USDC, buy: WETH, gross: HUNDRED_USDC },
  });
  if (other.terms === undefined) throw new Error("a swap in this state has terms");
  const second = { ...other, terms: { ...other.terms, nonce: 8n } };
  const moves = [{ ...leaves(USDC.address), amount: HUNDRED_USDC }, comes(WETH.address, MUCH_WETH)];
  expect(await filledWith(() => [second], { alsoNamed }, ...moves)).toEqual(fill);
});

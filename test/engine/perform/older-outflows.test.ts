import { expect, test } from "vitest";
import { swapdProfile } from "../../../src/adapters/swap-service/swapd/service.ts";
import type { Hex } from "../../../src/domain/money/address.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import { readChain } from "../../../src/engine/perform/read-chain.ts";
import { searchStart } from "../../../src/engine/perform/search-start.ts";
import { registerStrategies } from "../../../src/engine/register-strategies.ts";
import { HUNDRED_USDC, NOW_MS, RELAYER, ROUTER, runSample, USDC, WETH } from "../../support/builders.ts";
import { addRun } from "../../support/daemon-database.ts";
import { ACCOUNT, createOutside, openLife } from "../../support/engine-life.ts";
import { decodedFor, swapIn } from "../../support/reading-samples.ts";

// What left the wallet before an order without a nonce was signed may stand in its blocks all the same.

const owned = { wallet: ACCOUNT, recipient: ACCOUNT, mode: "gasless", gasless: "only" } as const;
const order = {
  ...{ owner: ACCOUNT, recipient: ACCOUNT, fromAsset: USDC.address, toAsset: WETH.address, nonce: 8n },
  ...{ deadline: BigInt(Math.floor(NOW_MS / 1_000) + 60), amountOutMin: 1n, gross: HUNDRED_USDC, swapFee: 0n },
  amountOut: 10n ** 18n,
};

async function begin() {
  const outside = createOutside(NOW_MS);
  const life = openLife(outside);
  await registerStrategies(life.context);
  outside.service.profile = { ...swapdProfile, nonceRecord: undefined, signatureHasNonce: false };
  return { outside, life, context: life.context };
}

type Begun = Awaited<ReturnType<typeof begin>>;

/** The order as it is signed now: where its fill is looked for from. */
async function signedNow({ outside, life, context }: Begun): Promise<Swap> {
  const swap = swapIn("submitted", owned);
  const decoding = { ok: true, swap: decodedFor(swap, { nonce: undefined }) } as const;
  const { number: head } = await outside.chain.latest();
  const { fillFrom: fromBlock } = await searchStart(context, swap, { decoding, head });
  const signed = { ...swap, terms: { ...swap.terms, nonce: undefined, fromBlock } as Swap["terms"] };
  addRun(life.store, runSample({ swaps: [signed] }));
  return signed;
}

/** An order of another database is filled, which a person accepts while the block is not final. */
async function acceptedOutflow({ outside: { chain }, life }: Begun): Promise<Hex | undefined> {
  chain.submitOrder(order, HUNDRED_USDC);
  chain.mine();
  const hash = chain.receipts().at(-1)?.hash;
  const key = `outflow ${ACCOUNT} ${hash} ${USDC.address} #0`;
  const what = { wallet: ACCOUNT, token: USDC.address, kind: "outflow", scope: "token", text: "", facts: {} } as const;
  life.store.addDifference({ key, ...what }, { ms: 1, sinceBoot: { id: "boot", ms: 1 } });
  life.store.settleDifference(life.store.openDifferences()[0]?.id ?? 0, { by: "ops", atMs: 2 });
  return hash;
}

test("what was accepted is no fill of an order signed since, also where a fork brings it again a block higher", async () => {
  const begun = await begin();
  const { chain } = begun.outside;
  const accepted = await acceptedOutflow(begun);
  const swap = await signedNow(begun);
  chain.reorganise(1);
  chain.submitOrder(order, HUNDRED_USDC);
  chain.mine();
  expect(chain.receipts().at(-1)).toMatchObject({ hash: accepted, blockNumber: 102, succeeded: true });
  expect(await readChain(begun.context, swap)).toMatchObject({ kind: "observed", observation: { fill: undefined } });
});

test("what was accepted is no fill of an order signed while a node left its log out", async () => {
  const begun = await begin();
  const { chain } = begun.outside;
  await acceptedOutflow(begun);
  chain.hidesLogs = true;
  const swap = await signedNow(begun);
  chain.hidesLogs = false;
  expect(swap.terms?.fromBlock).toBe(101);
  expect(await readChain(begun.context, swap)).toMatchObject({ kind: "observed", observation: { fill: undefined } });
});

test("what was accepted stays the fill of an order that had taken it for its fill before", async () => {
  const begun = await begin();
  const hash = await acceptedOutflow(begun);
  const swap = swapIn("mined", owned);
  const filled = { ...swap, terms: { ...swap.terms, nonce: undefined }, fill: { ...swap.fill, hash } } as Swap;
  addRun(begun.life.store, runSample({ swaps: [filled] }));
  expect(await readChain(begun.context, filled)).toMatchObject({ kind: "observed", observation: { fill: { hash } } });
});

/** What the first check of the wallet knew, made when this block was the newest one. */
function firstCheckedAt({ life }: Begun, block: number): void {
  const baseline = { block, transactionCount: 0 };
  life.store.saveKnownChain({ wallet: ACCOUNT, block, transactionCount: 0, balances: new Map(), baseline }, 1);
}

test.each([
  [100, true],
  [101, undefined],
])(
  "what left before the wallet's first check holds no order open, because no check reports it (at block %s)",
  async (block, isHeld) => {
    const begun = await begin();
    const { chain } = begun.outside;
    chain.mine();
    firstCheckedAt(begun, block);
    chain.takeAway({ token: USDC.address, from: ACCOUNT, to: RELAYER, amount: 5n });
    chain.hidesLogs = true;
    const swap = await signedNow(begun);
    chain.hidesLogs = false;
    const seen = await readChain(begun.context, swap);
    if (seen.kind !== "observed") throw new Error(seen.kind);
    expect([seen.observation.fill, seen.observation.isUnexplained]).toEqual([undefined, isHeld]);
  },
);

test("what a fork puts at or below the wallet's first check is the order's fill all the same", async () => {
  const begun = await begin();
  const { chain } = begun.outside;
  chain.mine();
  firstCheckedAt(begun, 101);
  const swap = await signedNow(begun);
  chain.reorganise(1);
  chain.takeAway({ token: USDC.address, from: ACCOUNT, to: ROUTER, amount: HUNDRED_USDC });
  expect(await readChain(begun.context, swap)).toMatchObject({ observation: { fill: { blockNumber: 101 } } });
});

import { describe, expect, test } from "vitest";
import type { Swap } from "../../../src/domain/run/run.ts";
import { searchStart } from "../../../src/engine/perform/search-start.ts";
import { HUNDRED_USDC, NOW_MS, RELAYER, runSample, USDC, WETH } from "../../support/builders.ts";
import { addRun, addSwap } from "../../support/daemon-database.ts";
import { ACCOUNT, createOutside, openLife } from "../../support/engine-life.ts";
import { decodedFor, swapIn } from "../../support/reading-samples.ts";

const owned = { wallet: ACCOUNT, recipient: ACCOUNT, mode: "gasless", gasless: "only" } as const;
const swap = swapIn("quoted", owned);
const withNonce = { ok: true, swap: decodedFor(swap) } as const;
const nameless = { ok: true, swap: { ...decodedFor(swap), nonce: undefined } } as const;
const order = {
  ...{ owner: ACCOUNT, recipient: ACCOUNT, fromAsset: USDC.address, toAsset: WETH.address, nonce: 9n },
  ...{ deadline: BigInt(Math.floor(NOW_MS / 1_000) + 600), amountOut: 9n, amountOutMin: 1n },
  ...{ gross: HUNDRED_USDC, swapFee: 0n },
};

function begin() {
  const outside = createOutside(NOW_MS);
  const life = openLife(outside);
  addRun(life.store, runSample({ swaps: [swap] }));
  return { outside, life, context: life.context };
}

describe("the fill of a gasless swap is looked for", () => {
  test("from the finalised block on, where a fork may put it", async () => {
    const { outside, context } = begin();
    for (let block = 0; block < 4; block += 1) outside.chain.mine();
    const finalized = (await outside.chain.finalized()).number;
    const head = (await outside.chain.latest()).number;
    expect(head).toBeGreaterThan(finalized + 1);
    expect(await searchStart(context, swap, { decoding: withNonce, head })).toEqual({ fillFrom: finalized });
    expect(await searchStart(context, swap, { decoding: nameless, head })).toEqual({ fillFrom: finalized + 1 });
  });

  test("without a nonce once an outflow that is there already is final, unless another swap explains it", async () => {
    const { outside, life, context } = begin();
    outside.chain.submitOrder(order, HUNDRED_USDC);
    outside.chain.mine();
    const [outflow] = outside.chain.receipts().slice(-1);
    outside.chain.mine();
    const head = (await outside.chain.latest()).number;
    const finalized = (await outside.chain.finalized()).number;
    expect(outflow?.blockNumber).toBe(head - 1);
    const inTheWay = { hash: outflow?.hash, block: head - 1, finalized };
    expect(await searchStart(context, swap, { decoding: nameless, head })).toEqual({
      fillFrom: finalized + 1,
      inTheWay,
    });
    expect(await searchStart(context, swap, { decoding: withNonce, head })).toEqual({ fillFrom: finalized });
    const other = swapIn("confirmed", { ...owned, id: "run_9.0.1" });
    addSwap(life.store, { ...other, fill: { ...other.fill, hash: outflow?.hash } as NonNullable<Swap["fill"]> });
    expect(await searchStart(context, swap, { decoding: nameless, head })).toEqual({ fillFrom: finalized + 1 });
  });

  test("without a nonce at once where a person accepted the outflow, or it is final", async () => {
    const { outside, life, context } = begin();
    const { chain } = outside;
    chain.submitOrder(order, HUNDRED_USDC);
    chain.mine();
    const key = `outflow ${ACCOUNT} ${chain.receipts().at(-1)?.hash} ${USDC.address} #0`;
    const what = {
      wallet: ACCOUNT,
      token: USDC.address,
      kind: "outflow",
      scope: "token",
      text: "",
      facts: {},
    } as const;
    life.store.addDifference({ key, ...what }, { ms: 1, sinceBoot: { id: "boot", ms: 1 } });
    expect(await searchStart(context, swap, { decoding: nameless, head: 101 })).toMatchObject({
      inTheWay: { block: 101 },
    });
    life.store.settleDifference(life.store.openDifferences()[0]?.id ?? 0, { by: "ops", atMs: 2 });
    expect(await searchStart(context, swap, { decoding: nameless, head: 101 })).toEqual({ fillFrom: 101 });
    chain.takeAway({ token: USDC.address, from: ACCOUNT, to: RELAYER, amount: 1n });
    for (let block = 0; block < 3; block += 1) chain.mine();
    expect(await searchStart(context, swap, { decoding: nameless, head: 104 })).toHaveProperty("inTheWay");
    chain.mine();
    expect(await searchStart(context, swap, { decoding: nameless, head: 105 })).toEqual({ fillFrom: 102 });
  });
});

import { expect, test } from "vitest";
import type { Hex } from "../../../src/domain/money/address.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { RunEvent, TransactionChange } from "../../../src/domain/run/events.ts";
import { type Run, type Swap, swapOf } from "../../../src/domain/run/run.ts";
import type { SwapState } from "../../../src/domain/run/states.ts";
import { signGasless } from "../../../src/engine/perform/sign-gasless.ts";
import { submitGasless } from "../../../src/engine/perform/submit-gasless.ts";
import { registerStrategies } from "../../../src/engine/register-strategies.ts";
import { NOW_MS, runSample, USDC, WBTC, WETH } from "../../support/builders.ts";
import { addRun } from "../../support/daemon-database.ts";
import { ACCOUNT, createOutside, maySign, openLife } from "../../support/engine-life.ts";
import { attemptRow, intentRow } from "../../support/lane-database.ts";
import {
  decodedFor,
  hash,
  quoteSample,
  readingFor,
  receiptFor,
  signingSample,
  swapIn,
} from "../../support/reading-samples.ts";

const owned = { wallet: ACCOUNT, recipient: ACCOUNT } as const;
const planned = { kind: "proceeds", of: [0], base: 0n, share: toPpm(1_000_000), min: 1n, max: 10n ** 12n } as const;
const PROCEEDS = 777_000_000n;

/** A run of two swaps: the second one sells what the first one brought, or would have. */
async function begin(
  first: SwapState,
  second: Swap,
): Promise<{ run: Run; swap: Swap } & Awaited<ReturnType<typeof beginOutside>>> {
  const source = swapIn(first, { ...owned, sell: WETH, buy: USDC, gross: 10n ** 18n });
  const fill = source.fill === undefined ? undefined : { ...source.fill, bought: PROCEEDS };
  const begun = await beginOutside();
  return { ...begun, swap: second, run: addRun(begun.life.store, runSample({ swaps: [{ ...source, fill }, second] })) };
}

async function beginOutside() {
  const outside = createOutside(NOW_MS);
  const life = openLife(outside);
  await registerStrategies(life.context);
  return { outside, life };
}

function sale(state: SwapState, change: Partial<Swap> = {}): Swap {
  const place = { id: "run_1.1.1", position: 1, begun: true, gross: PROCEEDS, planned } as const;
  return swapIn(state, { ...owned, ...place, sell: USDC, buy: WBTC, ...change });
}

test("no signature is given for proceeds that a reorganisation took back since the swap was cleared", async () => {
  const { life, outside, run, swap } = await begin("submitted", sale("cleared", { mode: "gasless" }));
  const answer = await signGasless(life.context, run, swap);
  const detail = "a reorganisation took back run_1.0.1, whose proceeds it sells";
  expect(answer).toEqual({ kind: "signing-barred", swapId: swap.id, detail });
  expect(outside.signed).toEqual([]);
});

test("no signature is given where the reorganisation is seen after its effect was begun", async () => {
  const { life, outside, swap } = await begin("submitted", sale("cleared", { mode: "gasless" }));
  const { run: before } = await begin("confirmed", sale("cleared", { mode: "gasless" }));
  const answer = await signGasless(life.context, before, swap);
  expect([answer.kind, outside.signed]).toEqual(["signing-barred", []]);
});

test("an order whose proceeds were taken back before it was signed is cleared again once they are there", async () => {
  const second = sale("planned", { quote: undefined, mode: undefined, gasless: "only" });
  const { life, outside } = await begin("mined", second);
  const now = (): Run => life.store.run("run_1") ?? runSample();
  const tell = (event: RunEvent) => life.engine.committer.commit({ runId: "run_1", event });
  const tellFirst = (change: TransactionChange) =>
    tell({ kind: "transaction", swapId: "run_1.0.1", intentId: "run_1.0.1.swap", change });
  const clear = async (swapId: string, digest: Hex, nonce: bigint): Promise<Swap> => {
    await tell({ kind: "quoted", swapId, quote: quoteSample(swapOf(now(), swapId)), gasless: true });
    const traded = { kind: "traded", wallet: ACCOUNT, sell: USDC.address, buy: WBTC.address } as const;
    const { lastFreed } = await life.store.read(traded);
    const signing = { swap: { ...signingSample(PROCEEDS).swap, digest }, permit: undefined };
    const change = { lastFreed, signing, allowance: 10n ** 10n };
    const swap = swapOf(now(), swapId);
    const decoding = { ok: true, swap: decodedFor(swap, { nonce }) } as const;
    await tell({ kind: "facts-read", swapId, reading: readingFor(swap, { ...change, decoding }) });
    return swapOf(now(), swapId);
  };
  await tellFirst({ kind: "confirmed", succeeded: true });
  const cleared = await clear("run_1.1.1", hash("d1"), 7n);
  await tellFirst({ kind: "reorged" });
  const barred = await signGasless(life.context, now(), cleared);
  if (barred.kind !== "signing-barred") throw new Error(`not barred: ${barred.kind}`);
  await tell(barred);
  const [first] = now().swaps;
  if (first === undefined) throw new Error("the run lost its first swap");
  await tellFirst({ kind: "mined", receipt: receiptFor(first), value: 0n });
  await tellFirst({ kind: "confirmed", succeeded: true });
  const { id } = now().swaps.at(-1) ?? cleared;
  // It brought another amount this time: that is quoted first.
  await clear(id, hash("d2"), 8n);
  const again = await clear(id, hash("d2"), 8n);
  expect([cleared.state, again.state, outside.signed]).toEqual(["cleared", "cleared", []]);
  expect(again.gross).toBe(now().swaps[0]?.fill?.bought);
});

test("no order is submitted for proceeds that a reorganisation took back since it was signed", async () => {
  const { life, outside, run, swap } = await begin("submitted", sale("signed", { mode: "gasless" }));
  const detail = "not submitted: a reorganisation took back run_1.0.1, whose proceeds it sells";
  expect(await submitGasless(life.context, run, swap, 0)).toMatchObject({ kind: "held-back", detail });
  expect(outside.service.submissions).toEqual([]);
});

test.each([
  ["submitted", false],
  ["unknown", false],
  ["reverted", false],
  ["confirmed", true],
] as const)("a lane signs for proceeds of a swap that is %s: %s", async (first, may) => {
  for (const [state, purpose] of [["cleared", "swap"] as const, ["approving", "approve1"] as const]) {
    const { life, swap } = await begin(first, sale(state));
    const id = `${swap.id}.${purpose}`;
    const intent = { id, account: ACCOUNT, purpose: purpose === "swap" ? "swap" : "approve" } as const;
    life.lanes.insertIntent(intentRow({ ...intent, nonce: 0 }));
    expect(await maySign(life, id)).toBe(may);
    // What is signed may be mined whatever is thought of it: it is followed to its end.
    life.lanes.insertAttempt(attemptRow({ intentId: id }));
    expect(await maySign(life, id)).toBe(true);
  }
});

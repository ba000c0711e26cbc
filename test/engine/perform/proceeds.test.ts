import { expect, test } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { Run, Swap } from "../../../src/domain/run/run.ts";
import type { SwapState } from "../../../src/domain/run/states.ts";
import { signGasless } from "../../../src/engine/perform/sign-gasless.ts";
import { submitGasless } from "../../../src/engine/perform/submit-gasless.ts";
import { registerStrategies } from "../../../src/engine/register-strategies.ts";
import { NOW_MS, runSample, USDC, WBTC, WETH } from "../../support/builders.ts";
import { addRun } from "../../support/daemon-database.ts";
import { ACCOUNT, createOutside, maySign, openLife } from "../../support/engine-life.ts";
import { attemptRow, intentRow } from "../../support/lane-database.ts";
import { swapIn } from "../../support/reading-samples.ts";

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

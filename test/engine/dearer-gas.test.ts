import { expect, test } from "vitest";
import { valueUp } from "../../src/domain/money/price.ts";
import { dcaSpec, ETH, GWEI, policySample, priceOf, SLOT_MS, usd } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turnUntil } from "../support/engine-life.ts";

const CEILING = 1_000n * GWEI;
/** Far below the ceiling, and with it a swap would cost an eighth of what it sells. */
const SPIKE = 40n * GWEI;
/** Three per cent of what is sold. */
const SHARE = usd("3");

interface Offer {
  readonly kind: string;
  readonly usd: bigint;
}

/** What each signed version of a swap's transaction, or of the approval before it, may cost at most. */
function offers({ db }: Life, purpose: "swap" | "approve" = "swap"): readonly Offer[] {
  const sql = `SELECT s.kind, s.max_fee_per_gas AS fee, s.gas_limit AS gas FROM lane_signings s
    JOIN lane_intents i ON i.id = s.intent_id WHERE i.purpose = ? ORDER BY s.rowid`;
  const rows = db.prepare<[string], { kind: string; fee: string; gas: string }>(sql).all(purpose);
  return rows.map(({ kind, fee, gas }) => {
    const cost = { raw: BigInt(fee) * BigInt(gas), decimals: ETH.decimals };
    return { kind, usd: valueUp(cost, priceOf(ETH).usd) };
  });
}

/** A world in which gas grows dearer once a transaction is signed. */
function begin(purpose: "swap" | "approve" = "swap"): { readonly outside: Outside; readonly life: Life } {
  const limits = { ...dcaSpec().limits, maxFeePerGas: CEILING };
  const outside = createOutside(SLOT_MS - 1_500, { limits, gasless: "never", retryForSeconds: 5 });
  const policy = policySample({ recipients: [ACCOUNT], maxFeePerGas: CEILING });
  const life: Life = openLife(outside, {
    settings: { policy },
    onCommit: () => {
      if (offers(life, purpose).length > 0) outside.chain.baseFee = SPIKE;
    },
  });
  return { outside, life };
}

function firstState({ db }: Life): unknown {
  return db.prepare("SELECT state FROM swaps ORDER BY rowid").pluck().get();
}

test("a swap whose gas grows dearer until a block has it is offered no more than its share, and leaves its nonce", async () => {
  const { outside, life } = begin();
  await life.engine.start();
  await turnUntil(outside, life, { maxSeconds: 90, isDone: () => firstState(life) === "cancelled" });
  expect([life.errors, firstState(life)]).toEqual([[], "cancelled"]);
  const own = offers(life).filter(({ kind }) => kind !== "cancel");
  expect(own.length).toBeGreaterThan(0);
  for (const { usd: cost } of own) expect(cost).toBeLessThanOrEqual(SHARE);
});

test("the approval before a swap is offered no more than that either, and leaves its nonce", async () => {
  const { outside, life } = begin("approve");
  await life.engine.start();
  await turnUntil(outside, life, { maxSeconds: 600, isDone: () => firstState(life) === "skipped" });
  expect([life.errors, firstState(life)]).toEqual([[], "skipped"]);
  const own = offers(life, "approve").filter(({ kind }) => kind !== "cancel");
  expect(own.length).toBeGreaterThan(0);
  for (const { usd: cost } of own) expect(cost).toBeLessThanOrEqual(SHARE);
  const left = life.db.prepare("SELECT outcome FROM lane_intents WHERE purpose = 'approve'").pluck().all();
  expect(left).toEqual(["cancelled"]);
});

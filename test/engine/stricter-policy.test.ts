import { expect, test } from "vitest";
import { approval } from "../../src/domain/guard/approval.ts";
import type { Policy } from "../../src/domain/guard/policy.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { GWEI, policySample, ROUTER, SLOT_MS, USDC, usd, WBTC } from "../support/builders.ts";
import { ACCOUNT, createOutside, Killed, type Life, openLife, turn, turnUntil } from "../support/engine-life.ts";

const OTHER = toAddress(`0x${"5e".repeat(20)}`);
const before = policySample({ recipients: [ACCOUNT] });

/** Where the life ends that cleared something under the policy of before. */
interface Place {
  readonly gasless: "never" | "only";
  readonly label: string;
  readonly nth: number;
}

const APPROVAL: Place = { gasless: "never", label: "lane.sign.before", nth: 1 };
const SWAP: Place = { gasless: "never", label: "lane.sign.before", nth: 2 };
const ORDER: Place = { gasless: "only", label: "gasless.sign.before", nth: 1 };
const SIGNED_ORDER: Place = { gasless: "only", label: "gasless.submit.before", nth: 1 };

/** Clears a swap, ends, and goes on under another policy. */
async function goOn({ gasless, label, nth }: Place, change: Partial<Policy>) {
  const outside = createOutside(SLOT_MS - 1_500, { gasless, retryForSeconds: 30 });
  const killAt = (at: string, passed: readonly string[]): boolean =>
    at === label && passed.filter((one) => one === label).length === nth;
  const first = openLife(outside, { settings: { policy: before }, killAt });
  await begin(first);
  expect(await turnUntil(outside, first, { maxSeconds: 60, isDone: () => first.isDead() })).toBe(true);
  first.db.close();
  const signed = outside.signed.length;
  const life = openLife(outside, { settings: { policy: { ...before, ...change } } });
  await begin(life);
  await turn(outside, life, 25);
  expect(life.errors).toEqual([]);
  return { outside, life, newly: outside.signed.slice(signed) };
}

async function begin({ engine }: Life): Promise<void> {
  await engine.start().catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error;
  });
}

/** In calldata: an approval of nothing. */
const nothing = approval(ROUTER, 0n).slice(2);

function swapsOf({ db }: Life): unknown {
  return db.prepare("SELECT state, reason FROM swaps ORDER BY attempt").all();
}

const kept = [
  ["an approval", APPROVAL],
  ["a swap", SWAP],
  ["an order", ORDER],
] as const;
const forbidden = [
  ["its contract", { spenders: [OTHER] }, "SPENDER_NOT_ALLOWED"],
  ["its recipient", { recipients: [OTHER] }, "RECIPIENT_NOT_ALLOWED"],
  ["its token", { tokens: [USDC.address, WBTC.address] }, "TOKEN_NOT_ALLOWED"],
  ["its size", { maxTradeUsd: usd("50") }, "RUN_CAP_EXCEEDED"],
] as const;
const cases = kept.flatMap(([what, place]) => forbidden.map((of) => [what, of[0], place, of[1], of[2]] as const));

test.each(cases)(
  "%s that was cleared before the owner forbade %s is not signed by the next life, which judges it anew",
  async (_what, _of, place, change, code) => {
    const { life, newly } = await goOn(place, change);
    // What an approval of before allowed is taken back.
    expect(newly.filter(({ text }) => !text.includes(nothing))).toEqual([]);
    expect(JSON.stringify(swapsOf(life))).toContain(code);
  },
);

test("an order that was signed before the owner forbade its recipient is not handed over by the next life", async () => {
  const { outside, life } = await goOn(SIGNED_ORDER, { recipients: [OTHER] });
  expect([outside.chain.ledger.balance(USDC.address, ACCOUNT), swapsOf(life)]).toEqual([
    1_000_000_000n,
    [{ state: "unknown", reason: "answer_lost" }],
  ]);
});

test.each(kept)(
  "%s that was cleared before the owner raised a ceiling is quoted again, and filled",
  async (_what, place) => {
    const { life } = await goOn(place, { maxFeePerGas: 6n * GWEI });
    expect(life.db.prepare("SELECT state FROM runs ORDER BY slot_ms").pluck().get()).toBe("filled");
  },
);

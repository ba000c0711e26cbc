import { expect, test } from "vitest";
import { USD_DECIMALS, type UsdPrice } from "../../src/domain/money/price.ts";
import type { SweepSpec } from "../../src/domain/strategy/sweep.ts";
import { dcaSpec, ETH, SLOT_MS, USDC } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";

function dollars(whole: bigint): UsdPrice {
  return (whole * 10n ** BigInt(USD_DECIMALS)) as UsdPrice;
}

/** The account has 10 ETH and 1000 USDC; a lot is at most 300 dollars, and a day's lots together 500. */
const tank: SweepSpec = {
  ...dcaSpec({ id: "gas-tank", wallet: { name: "main", address: ACCOUNT }, recipient: ACCOUNT }),
  kind: "sweep",
  schedule: { kind: "every", seconds: 60 },
  retryForSeconds: 40,
  from: [{ token: USDC, keep: 0n, above: undefined }],
  to: ETH,
  refill: { below: 11n * 10n ** 18n, to: 12n * 10n ** 18n, lastResort: 10n ** 15n },
  lot: { min: dollars(10n), max: dollars(300n) },
  maxPerDay: dollars(500n),
  cooldownSeconds: 30,
  exit: false,
};

function endsOf(life: Life): readonly (readonly [string, string | null])[] {
  return life.db
    .prepare<[], { state: string; reason: string | null }>("SELECT state, reason FROM runs ORDER BY slot_ms")
    .all()
    .map(({ state, reason }) => [state, reason]);
}

function soldUsdc(outside: Outside): bigint {
  return 1_000_000_000n - outside.chain.ledger.balance(USDC.address, ACCOUNT);
}

test("SWP-10 refills on the chain until its day's cap is used up, and remembers it over a kill", {
  timeout: 60_000,
}, async () => {
  const outside = createOutside(SLOT_MS - 1_500, tank);
  const first = openLife(outside);
  await first.engine.start();
  const before = outside.chain.ledger.balance(ETH.address, ACCOUNT);
  await turnUntil(outside, first, {
    maxSeconds: 50,
    isDone: () => endsOf(first).some(([state]) => state === "filled"),
  });
  expect(endsOf(first)).toEqual([["filled", null]]);
  expect(soldUsdc(outside)).toBe(300_000_000n);
  expect(outside.chain.ledger.balance(ETH.address, ACCOUNT)).toBeGreaterThan(before);
  first.kill();
  first.db.close();
  const second = openLife(outside);
  await second.engine.start();
  await turn(outside, second, 200);
  expect(second.errors).toEqual([]);
  expect(endsOf(second).slice(0, 3)).toEqual([
    ["filled", null],
    ["filled", null],
    ["skipped", "turnover_spent"],
  ]);
  expect(soldUsdc(outside)).toBe(500_000_000n);
});

import { expect, test } from "vitest";
import { setAlertChannels } from "../../src/adapters/sqlite/daemon/alert-outbox.ts";
import { toPpm } from "../../src/domain/money/fraction.ts";
import type { TwapSpec } from "../../src/domain/strategy/twap.ts";
import { dcaSpec, SLOT_MS, USDC, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, openLife, turn } from "../support/engine-life.ts";

const EVERY_SECONDS = 60;
const plan: TwapSpec = {
  ...dcaSpec({ id: "leaving" }),
  kind: "twap",
  schedule: { kind: "every", seconds: EVERY_SECONDS },
  retryForSeconds: 40,
  sell: { token: USDC, raw: 300_000_000n },
  buy: WETH,
  startMs: SLOT_MS,
  slices: 3,
  everySeconds: EVERY_SECONDS,
  spread: toPpm(0),
  slice: { unfilled: "roll", max: 200_000_000n, min: 1_000_000n },
  limit: { floor: undefined, abort: undefined },
  exit: true,
  wallet: { name: "main", address: ACCOUNT },
  recipient: ACCOUNT,
};

test("TWAP-9 a plan that a downtime left unsold ends with a warning, which channels send by default", async () => {
  const outside = createOutside(SLOT_MS - 1_500, plan);
  const life = openLife(outside);
  await setAlertChannels(life.db, [{ name: "phone", severities: ["warning", "critical"], sendsEnds: true }]);
  await life.engine.start();
  await turn(outside, life, 40);
  life.kill();
  life.db.close();
  outside.clock.jumpTo(SLOT_MS + 3_600_000);
  outside.chain.mine();
  const next = openLife(outside);
  await next.engine.start();
  await turn(outside, next, 90);
  expect(next.store.mode(plan.id)).toMatchObject({ mode: "paused", reason: expect.stringContaining("left unsold") });
  const sent = "SELECT severity, code FROM alert_deliveries JOIN alerts ON alerts.number = alert";
  expect(next.db.prepare(sent).raw().all()).toEqual([["warning", "strategy_unsold"]]);
});

import { expect, onTestFinished, test } from "vitest";
import { swapdProfile } from "../../src/adapters/swap-service/swapd/service.ts";
import { oneContract } from "../../src/domain/guard/swap-contracts.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { HUNDRED_USDC, policySample, ROUTER, SLOT_MS, USDC } from "../support/builders.ts";
import { createOutside, type Life, ACCOUNT as OWNER, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";
import { leaveNoncesOut } from "../support/leave-nonces-out.ts";

const swaps = ({ db }: Life): unknown[] => db.prepare("SELECT state, reason FROM swaps").all();
const ledger = ({ db }: Life): unknown[] => db.prepare("SELECT state, amount FROM ledger").all();

test.each(["gasless.submit.after", "commit.submission-accepted.after"])(
  "a gasless swap that was signed for another settlement, as of an older release, is looked up there (killed at %s)",
  async (label) => {
    const other = toAddress(`0x${"c4".repeat(20)}`);
    const outside = createOutside(SLOT_MS - 1_500, {
      gasless: "only",
      budget: { total: HUNDRED_USDC },
    } as Partial<StrategySpec>);
    const policy = { ...policySample({ recipients: [OWNER] }), spenders: [ROUTER, other] };
    const first = openLife(outside, { settings: { policy }, killAt: (passed) => passed === label });
    await first.engine.start();
    await turn(outside, first, 10);
    expect([first.isDead(), outside.service.submissions.length]).toEqual([true, 1]);
    first.db.close();
    outside.chain.mine();
    outside.chain.codes.set(other, "0x60");
    const life = openLife(outside, { settings: { contracts: oneContract(other), policy } });
    onTestFinished(() => life.engine.stop());
    await life.engine.start();
    await turn(outside, life, 700);
    expect([swaps(life), ledger(life), life.errors]).toEqual([
      [{ state: "final", reason: null }],
      [{ state: "spent", amount: HUNDRED_USDC.toString() }],
      [],
    ]);
    expect(life.store.openDifferences()).toEqual([]);
    expect(outside.reported.map(({ code }) => code)).toEqual(["strategy_completed"]);
  },
);

test("an order without a nonce that was never filled ends also under a service whose orders have one", async () => {
  const outside = createOutside(SLOT_MS - 1_500, { gasless: "prefer" } as Partial<StrategySpec>);
  const { service } = outside;
  leaveNoncesOut(service);
  service.delivery = "lost";
  const first = openLife(outside);
  await first.engine.start();
  const isUnknown = (): boolean => first.db.prepare("SELECT state FROM swaps").pluck().get() === "unknown";
  expect(await turnUntil(outside, first, { maxSeconds: 20, isDone: isUnknown })).toBe(true);
  await first.engine.stop();
  first.db.close();
  service.profile = swapdProfile;
  service.twist = (swap) => swap;
  service.delivery = "taken";
  service.swapRecord = async () => refusal("QUOTE_UNKNOWN", false);
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  await turn(outside, life, 900);
  expect(swaps(life)[0]).toMatchObject({ state: "expired" });
  expect(await outside.chain.balance(USDC.address, OWNER)).toBeLessThan(1_000_000_000n);
  expect(life.errors).toEqual([]);
});

import { expect, test } from "vitest";
import { toAddress } from "../../src/domain/money/address.ts";
import { toPpm } from "../../src/domain/money/fraction.ts";
import type { Token } from "../../src/domain/money/token.ts";
import { runsOf } from "../support/budget-life.ts";
import { policySample, rebalanceSpec, SLOT_MS, USDC, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { replayAll } from "../support/replays.ts";

const SAFE = toAddress(`0x${"5".repeat(40)}`);
const ETHER = 10n ** 18n;

const target = (token: Token, weight: number) => ({
  ...{ token, weight: toPpm(weight), exit: false, hard: undefined },
  soft: { relative: undefined, absolute: toPpm(20_000) },
});

/** A wallet of 1,000 dollars and 3 ether at 1,000, and a Safe of nothing: 4,000 dollars of which half shall be dollars. */
function begin() {
  const { trades } = rebalanceSpec();
  const outside = createOutside(SLOT_MS - 1_500, {
    ...rebalanceSpec({
      targets: [target(WETH, 500_000), target(USDC, 500_000)],
      trades: { ...trades, via: undefined },
      external: { watched: [{ address: SAFE, tokens: [WETH, USDC] }], stated: [] },
    }),
    ...{ wallet: { name: "main", address: ACCOUNT }, recipient: SAFE },
  });
  const life = openLife(outside, { settings: { policy: policySample({ recipients: [ACCOUNT, SAFE] }) } });
  return { outside, life };
}

test("REB-27 a mix pays the Safe that it counts, once: at the next slots what was bought is not missing any more", async () => {
  const { outside, life } = begin();
  await life.engine.start();
  const isDone = (): boolean => runsOf(life).some(({ state }) => state === "filled");
  expect(await turnUntil(outside, life, { maxSeconds: 60, isDone })).toBe(true);
  const { ledger } = outside.chain;
  expect(ledger.balance(WETH.address, ACCOUNT)).toBe(2n * ETHER);
  expect(ledger.balance(USDC.address, ACCOUNT), "nothing was paid to the wallet").toBe(1_000_000_000n);
  const paid = ledger.balance(USDC.address, SAFE);
  expect(paid).toBeGreaterThan(950_000_000n);
  await turn(outside, life, 200);
  expect([ledger.balance(USDC.address, SAFE), ledger.balance(WETH.address, ACCOUNT)]).toEqual([paid, 2n * ETHER]);
  const reasons = new Set(runsOf(life).map(({ reason }) => reason ?? "filled"));
  const gaps = life.db.prepare<[], string>("SELECT reason FROM gaps").pluck().all();
  expect([...reasons, ...gaps]).toContain("within_bands");
  expect(life.errors).toEqual([]);
  expect(replayAll(life.file).problems).toEqual([]);
});

import { describe, expect, test } from "vitest";
import { delegationTo } from "../../src/domain/guard/delegation.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { checkWalletCodes } from "../../src/engine/wallet-code.ts";
import { SLOT_MS } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";

const DELEGATE = toAddress(`0x${"d".repeat(40)}`);

async function begin(
  change: Partial<StrategySpec>,
  settings: NonNullable<Parameters<typeof openLife>[1]>["settings"] = {},
) {
  const outside = createOutside(SLOT_MS - 1_500, change);
  const life = openLife(outside, { settings });
  await life.engine.start();
  return { outside, life };
}

/** Turns until the first run has its end. */
async function end(outside: Outside, life: Life): Promise<unknown> {
  const first = () => life.db.prepare("SELECT state, reason FROM runs ORDER BY slot_ms").get();
  await turn(outside, life, 2);
  const isOpen = () => /"(due|deciding|executing)"/.test(JSON.stringify(first()));
  await turnUntil(outside, life, { maxSeconds: 50, isDone: () => !isOpen() });
  expect(life.errors).toEqual([]);
  return first();
}

describe("a wallet whose account delegates to somebody whom nobody named", () => {
  test.each(["only", "never"] as const)("is halted before anything is signed, gasless: %s", async (gasless) => {
    const { outside, life } = await begin({ gasless });
    outside.chain.codes.set(ACCOUNT, delegationTo(DELEGATE));
    expect(await end(outside, life)).toMatchObject({ state: "skipped", reason: "signing_barred" });
    expect(outside.signed).toEqual([]);
    expect(life.lanes.halt(ACCOUNT, 31_337)?.reason).toContain(`delegates to ${DELEGATE}`);
    expect(outside.reported).toMatchObject([{ severity: "critical", code: "ACCOUNT_HALTED" }]);
    expect(outside.reported[0]?.text).toContain("the key is stolen");
  });

  test("is halted at the start, and again after a release, as long as it is so", async () => {
    const { outside, life } = await begin({});
    outside.chain.codes.set(ACCOUNT, delegationTo(DELEGATE));
    await checkWalletCodes(life.context);
    expect(life.lanes.halt(ACCOUNT, 31_337)).toBeDefined();
    life.lanes.releaseHalt(ACCOUNT, 31_337, { by: "ann", atMs: 1 });
    await checkWalletCodes(life.context);
    expect(life.lanes.halt(ACCOUNT, 31_337)).toBeDefined();
  });

  test("is not halted by the word of one node: then nothing is signed, and it is looked again", async () => {
    const { outside, life } = await begin({ gasless: "never" });
    const { chain } = outside;
    const honest = chain.code.bind(chain);
    let lies = 3;
    chain.code = async (address, block) =>
      block === undefined && lies-- > 0 ? delegationTo(DELEGATE) : honest(address, block);
    await turn(outside, life, 4);
    expect(life.lanes.halt(ACCOUNT, 31_337)).toBeUndefined();
    expect(outside.signed).toEqual([]);
    await turnUntil(outside, life, { maxSeconds: 50, isDone: () => outside.signed.length > 0 });
    expect(outside.signed.length).toBeGreaterThan(0);
    expect(life.lanes.halt(ACCOUNT, 31_337)).toBeUndefined();
  });
});

describe("a wallet whose delegate is named", () => {
  const delegates = new Map([[ACCOUNT, DELEGATE]]);

  test.each(["only", "never"] as const)("trades as any other, gasless: %s", async (gasless) => {
    const { outside, life } = await begin({ gasless }, { delegates });
    outside.chain.codes.set(ACCOUNT, delegationTo(DELEGATE));
    expect(await end(outside, life)).toMatchObject({ state: "filled" });
    expect(life.lanes.halt(ACCOUNT, 31_337)).toBeUndefined();
  });

  test("signs no permit that the token would ask the delegate about in vain", async () => {
    const { outside, life } = await begin({ gasless: "only", retryForSeconds: 3 }, { delegates });
    outside.chain.codes.set(ACCOUNT, delegationTo(DELEGATE));
    outside.chain.takesDelegated = false;
    expect(await end(outside, life)).toMatchObject({ reason: "PERMIT_UNSUPPORTED" });
    expect(outside.signed).toEqual([]);
  });

  test("is halted when it delegates to another one", async () => {
    const { outside, life } = await begin({}, { delegates });
    outside.chain.codes.set(ACCOUNT, delegationTo(toAddress(`0x${"e".repeat(40)}`)));
    await end(outside, life);
    expect(life.lanes.halt(ACCOUNT, 31_337)?.reason).toContain(`not to ${DELEGATE}`);
  });
});

test("an account that is halted for any reason signs nothing gasless either", async () => {
  const { outside, life } = await begin({ gasless: "only" });
  life.lanes.addHalt({ account: ACCOUNT, chainId: 31_337, reason: "a stranger", transactionCount: 0, atMs: 1 });
  expect(await end(outside, life)).toMatchObject({ state: "skipped", reason: "signing_barred" });
  expect(outside.signed).toEqual([]);
});

import { TypedDataEncoder } from "ethers";
import { describe, expect, test } from "vitest";
import { createSigner } from "../../src/adapters/keys/signer.ts";
import type { Hex } from "../../src/domain/money/address.ts";
import { SigningError } from "../../src/domain/signing-error.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { Secret } from "../../src/net/secret.ts";
import type { Signer } from "../../src/ports/signer.ts";
import { SLOT_MS, USDC } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { randomSignature } from "../support/signer-double/random-signature.ts";

const KEY = `0x${"07".repeat(32)}`;
const inner = createSigner(new Secret(KEY));

/** Signs with a number drawn for each signature, and gives none while `trouble` says so. */
function createFickleSigner() {
  const state = {
    trouble: undefined as SigningError | undefined,
    asked: 0,
    signatures: [] as string[],
    /** called while it makes a signature */
    meanwhile: undefined as (() => void) | undefined,
  };
  const orTrouble = (): void => {
    state.asked += 1;
    if (state.trouble !== undefined) throw state.trouble;
  };
  const signer: Signer = {
    address: ACCOUNT,
    signTransaction: async (transaction) => {
      orTrouble();
      return await inner.signTransaction(transaction);
    },
    signTypedData: async ({ domain, types, message }) => {
      orTrouble();
      const fields = Object.fromEntries(Object.entries(types).map(([name, list]) => [name, [...list]]));
      const digest = TypedDataEncoder.hash({ ...domain }, fields, { ...message });
      const signature = randomSignature(KEY, digest).serialized as Hex;
      state.signatures.push(signature);
      state.meanwhile?.();
      return signature;
    },
  };
  return { state, signer };
}

async function begin(change: Partial<StrategySpec>, killAt?: (label: string) => boolean) {
  const outside = createOutside(SLOT_MS - 1_500, change);
  const { state, signer } = createFickleSigner();
  const live = async (kill?: (label: string) => boolean): Promise<Life> => {
    const life = openLife(outside, { signer, ...(kill === undefined ? {} : { killAt: kill }) });
    await life.engine.start();
    return life;
  };
  return { outside, state, life: await live(killAt), live };
}

const stateOf = (life: Life): string => String(life.db.prepare("SELECT state FROM runs").pluck().get() ?? "none");
const isOver = (life: Life) => (): boolean => !["none", "due", "deciding", "executing"].includes(stateOf(life));

async function finish(outside: Outside, life: Life, maxSeconds = 60): Promise<string> {
  await turnUntil(outside, life, { maxSeconds, isDone: isOver(life) });
  await turn(outside, life, 6);
  expect(life.errors).toEqual([]);
  return stateOf(life);
}

describe.each(["only", "never"] as const)("a signer that gives no signature, gasless: %s", (gasless) => {
  test.each(["pending", "held back", "away", "refused", "different"] as const)(
    "is asked again while it is %s, and its slot is filled once it signs",
    async (code) => {
      const { outside, state, life } = await begin({ gasless });
      state.trouble = new SigningError(code, "the signer of the test gives nothing");
      await turn(outside, life, 15);
      expect(life.errors).toEqual([]);
      expect(stateOf(life)).toBe("executing");
      expect(state.asked).toBeGreaterThan(1);
      // An order after the pause of a retry, a lane with each of its turns: the signer's own pause is behind it.
      expect(state.asked, "not in a circle").toBeLessThan(gasless === "only" ? 13 : 60);
      expect(outside.service.submissions).toEqual([]);
      expect(outside.chain.sent).toEqual([]);
      state.trouble = undefined;
      expect(await finish(outside, life)).toBe("filled");
    },
  );

  test("for as long as the order could be filled ends the slot, and frees its money", async () => {
    const { outside, state, life } = await begin({ gasless });
    state.trouble = new SigningError("away", "the signer of the test is away");
    const end = await finish(outside, life, 900);
    expect(end).not.toBe("executing");
    expect(end).not.toBe("filled");
    expect(life.store.reserved(ACCOUNT, USDC.address)).toBe(0n);
    expect(await outside.chain.balance(USDC.address, ACCOUNT)).toBe(1_000_000_000n);
    expect(outside.chain.sent).toEqual([]);
    expect(outside.reported, "the token gave what it was asked for: nothing").toEqual([]);
  });
});

test.each(["only", "never"] as const)(
  "a signer that is away for longer than an order lives costs no slot whose window is open, gasless: %s",
  async (gasless) => {
    const { outside, state, life } = await begin({ gasless, retryForSeconds: 3_600 });
    state.trouble = new SigningError("away", "the signer of the test is away");
    await turn(outside, life, 180);
    expect([stateOf(life), outside.service.submissions, outside.chain.sent]).toEqual(["executing", [], []]);
    state.trouble = undefined;
    expect(await finish(outside, life, 90)).toBe("filled");
    expect(await outside.chain.balance(USDC.address, ACCOUNT)).toBe(900_000_000n);
  },
);

test("an order that was signed and not stored is signed again otherwise, and handed over once, as it is stored", async () => {
  const { outside, state, life, live } = await begin({ gasless: "only" }, (label) => label === "gasless.sign.after");
  await turn(outside, life, 10);
  expect(life.isDead()).toBe(true);
  expect(outside.service.submissions).toEqual([]);
  const lost = [...state.signatures];
  const next = await live();
  expect(await finish(outside, next)).toBe("filled");
  const stored = next.db.prepare<[], string>("SELECT signature FROM signatures").pluck().all();
  expect(stored.some((signature) => lost.includes(signature))).toBe(false);
  expect(outside.service.submissions).toHaveLength(1);
  expect(await outside.chain.balance(USDC.address, ACCOUNT)).toBe(900_000_000n);
});

test("a halt while the first of two signatures is made keeps the second from being asked for", async () => {
  const { outside, state, life } = await begin({ gasless: "only" });
  state.meanwhile = () =>
    life.store.setMode({
      scope: "global",
      mode: "halted",
      setBy: "ops",
      reason: "a look",
      atMs: outside.clock.nowMs(),
    });
  const end = await finish(outside, life);
  expect(state.signatures).toHaveLength(1);
  expect(end).toBe("skipped");
  expect(outside.service.submissions).toEqual([]);
  expect(life.store.reserved(ACCOUNT, USDC.address)).toBe(0n);
});

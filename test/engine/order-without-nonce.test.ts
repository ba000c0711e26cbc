import { expect, onTestFinished, test } from "vitest";
import { swapdProfile } from "../../src/adapters/swap-service/swapd/service.ts";
import type { Hex } from "../../src/domain/money/address.ts";
import { toPpm } from "../../src/domain/money/fraction.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import type { EngineSettings } from "../../src/engine/engine-context.ts";
import { HUNDRED_USDC, policySample, ROUTER, runSample, SLOT_MS, USDC } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";

const grant = { wallet: ACCOUNT, token: USDC.address, spender: ROUTER };
const asked = { owner: ACCOUNT, token: USDC.address, spender: ROUTER };

/** Asks again at once, so that there is no instant at which an order could be signed and is not. */
function paceWith(janitorMs: number): EngineSettings["pace"] {
  return {
    ...{ pollMs: 500, retryMs: 500, longestRetryMs: 500, watchMs: 1_000, longestWatchMs: 15_000, janitorMs },
    ...{ maxLifetimeSeconds: 300, submitMarginSeconds: 2, maxClockSkewSeconds: 30, slotClockSkewSeconds: 120 },
    ...{ concurrency: 4, samplePricesMs: 60_000 },
  };
}

/** A world whose service signs nothing that is bound to one execution: the allowance alone bounds an order. */
function begin(change: Partial<StrategySpec>): {
  outside: Outside;
  allow(kind: "gasless" | "own", isIt: boolean): void;
} {
  const outside = createOutside(SLOT_MS - 1_500, {
    ...change,
    budget: { total: HUNDRED_USDC },
  } as Partial<StrategySpec>);
  const { service } = outside;
  service.profile = {
    ...swapdProfile,
    ...{ idempotentExecuteSwap: false, signatureHasNonce: false, nonceRecord: undefined },
  };
  const quote = service.quote.bind(service);
  const allowed = { gasless: true, own: true };
  service.quote = async (request) => {
    if (request.gasless) return allowed.gasless ? await quote(request) : refusal("BUSY", true);
    return allowed.own ? await quote(request) : refusal("NO_ROUTE", false);
  };
  return {
    outside,
    allow: (kind, isIt) => {
      allowed[kind] = isIt;
    },
  };
}

function states({ db }: Life): unknown[] {
  return db.prepare("SELECT state FROM lane_intents").pluck().all();
}

test("is not signed with a permit while a fork holds our own approval back, which may be mined once more", async () => {
  const { outside, allow } = begin({ id: "own", gasless: "never" });
  const { chain, service, spec } = outside;
  const order: StrategySpec = { ...spec, id: "order", gasless: "only" };
  const strategies = [spec, order].map((one) => ({ spec: one, specHash: one.id }));
  const life = openLife(outside, { settings: { strategies, pace: paceWith(600_000) } });
  onTestFinished(() => life.engine.stop());
  allow("gasless", false);
  await life.engine.start();
  expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: () => states(life).length > 0 })).toBe(true);
  allow("own", false);
  expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: () => states(life)[0] === "confirmed" })).toBe(true);
  const minedAt = life.db.prepare<[], number>("SELECT mined_block_number FROM lane_intents").pluck().get() ?? 0;
  const broadcast = chain.broadcast.bind(chain);
  const held: Hex[] = [];
  chain.broadcast = async ({ raw }) => {
    held.push(raw);
    return { kind: "accepted" };
  };
  chain.reorganise((await chain.latest()).number - minedAt + 1);
  allow("gasless", true);
  await turn(outside, life, 30);
  expect([await chain.allowance(asked), service.submissions]).toEqual([0n, []]);
  chain.broadcast = broadcast;
  chain.holdsRelayed = true;
  for (const raw of held) await broadcast({ raw, visibility: "public" });
  expect(await turnUntil(outside, life, { maxSeconds: 60, isDone: () => service.submissions.length > 0 })).toBe(true);
  const byPermit = service.submissions[0]?.permitSignature === undefined ? 0n : HUNDRED_USDC;
  expect((await chain.allowance(asked)) + byPermit).toBe(HUNDRED_USDC);
  expect(new Set(states(life))).toEqual(new Set(["final"]));
  chain.holdsRelayed = false;
  await turn(outside, life, 600);
  expect(await chain.balance(USDC.address, ACCOUNT)).toBe(1_000_000_000n - HUNDRED_USDC);
  expect([life.errors, life.store.openDifferences()]).toEqual([[], []]);
});

test("is not signed before the revocation of what is left is final: a fork may bring that back alongside its permit", async () => {
  const { outside } = begin({ id: "order", gasless: "only" });
  const { chain, service } = outside;
  chain.ledger.setAllowance(USDC.address, ACCOUNT, 2n * HUNDRED_USDC);
  const life = openLife(outside, { settings: { pace: paceWith(1_000) } });
  onTestFinished(() => life.engine.stop());
  life.store.writeRecord(runSample(), { kind: "grant", ...grant }, 1);
  chain.holdsRelayed = true;
  await life.engine.start();
  expect(await turnUntil(outside, life, { maxSeconds: 90, isDone: () => service.submissions.length > 0 })).toBe(true);
  expect(states(life)).toEqual(["final"]);
  expect(service.submissions[0]?.permitSignature).toBeDefined();
});

test.each(["a node that lags", "all blocks but the final one"])(
  "is not signed with a permit alongside an allowance that is hidden by %s",
  async (what) => {
    const { outside } = begin({ id: "order", gasless: "only" });
    const { chain, service } = outside;
    chain.ledger.setAllowance(USDC.address, ACCOUNT, HUNDRED_USDC);
    const life = openLife(outside, { settings: { pace: paceWith(600_000) } });
    life.store.writeRecord(runSample(), { kind: "grant", ...grant }, 1);
    onTestFinished(() => life.engine.stop());
    const [allowance, agreed] = [chain.allowance.bind(chain), chain.agreed.bind(chain)];
    if (what === "a node that lags") {
      chain.allowance = async () => 0n;
      chain.agreed = async () => ({ ...(await agreed()), allowance, highestAllowance: allowance });
    } else {
      chain.allowance = async (one, block) => {
        const isFinal = block !== undefined && block <= (await chain.finalized()).number;
        return isFinal ? await allowance(one, block) : 0n;
      };
    }
    await life.engine.start();
    await turn(outside, life, 6);
    expect(service.submissions).toEqual([]);
    const why = life.db.prepare("SELECT DISTINCT reason FROM retries").pluck().all();
    expect(why).toEqual(["wallet_busy"]);
    chain.allowance = allowance;
    expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: () => service.submissions.length > 0 })).toBe(true);
    expect(service.submissions[0]?.permitSignature).toBeUndefined();
  },
);

test("is not signed for by another swap where the service repeats it word for word, and the daemon goes on", async () => {
  const { outside } = begin({ id: "order", gasless: "only", retryForSeconds: 60 });
  const { service } = outside;
  const { profile } = service;
  const NONCE = 7n;
  service.profile = {
    ...profile,
    typedData: (swap, pinned) => profile.typedData({ ...swap, nonce: NONCE }, pinned),
    decodeTypedData: (typedData, pinned) => {
      const decoded = profile.decodeTypedData(typedData, pinned);
      return decoded.ok ? { ok: true, swap: { ...decoded.swap, nonce: undefined } } : decoded;
    },
  };
  const quote = service.quote.bind(service);
  let repeated: Awaited<ReturnType<typeof quote>> | undefined;
  service.quote = async (request) => {
    repeated ??= await quote(request);
    return repeated;
  };
  // An allowance instead of a permit, which would be the same word for word as well.
  outside.chain.ledger.setAllowance(USDC.address, ACCOUNT, HUNDRED_USDC);
  const killed = openLife(outside, {
    settings: { policy: policySample({ recipients: [ACCOUNT] }) },
    killAt: (label) => label === "gasless.sign.before",
  });
  killed.store.writeRecord(runSample(), { kind: "grant", ...grant }, 1);
  await killed.engine.start();
  expect(await turnUntil(outside, killed, { maxSeconds: 60, isDone: () => killed.isDead() })).toBe(true);
  killed.db.close();
  // The policy is another one: what was cleared is dropped unsigned, and its place is tried again by a fresh swap.
  const life = openLife(outside, {
    settings: { policy: policySample({ recipients: [ACCOUNT], maxSlippage: toPpm(20_000) }) },
  });
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  const isRepeated = () => /word for word/.test(JSON.stringify(life.db.prepare("SELECT detail FROM retries").all()));
  await turnUntil(outside, life, { maxSeconds: 10, isDone: isRepeated });
  expect([life.errors, isRepeated(), service.submissions]).toEqual([[], true, []]);
  service.quote = quote;
  expect(await turnUntil(outside, life, { maxSeconds: 90, isDone: () => service.submissions.length > 0 })).toBe(true);
  expect(life.errors).toEqual([]);
});

import { expect, onTestFinished, test } from "vitest";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { revokeLeftovers } from "../../src/engine/janitor.ts";
import { ETH, GWEI, NOW_MS, ROUTER, runSample, SLOT_MS, USDC, WETH } from "../support/builders.ts";
import { addRun } from "../support/daemon-database.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";
import { intentRow } from "../support/lane-database.ts";
import { hash, swapIn } from "../support/reading-samples.ts";

const grant = { wallet: ACCOUNT, token: USDC.address, spender: ROUTER };

/** An allowance that was granted once and is partly left. */
function begin(left: bigint, options: Parameters<typeof openLife>[1] = {}): { outside: Outside; life: Life } {
  const outside = createOutside(NOW_MS);
  outside.chain.ledger.setAllowance(USDC.address, ACCOUNT, left);
  const life = openLife(outside, options);
  life.store.writeRecord(runSample(), { kind: "grant", ...grant }, 1);
  return { outside, life };
}

function revocations({ db }: Life): unknown[] {
  return db.prepare("SELECT purpose, to_address, state FROM lane_intents").all();
}

test("a leftover is taken back by a transaction of its own, and forgotten once its zero is final", async () => {
  const { outside, life } = begin(5n);
  await life.engine.start();
  await turn(outside, life, 20);
  expect(life.errors).toEqual([]);
  expect(await outside.chain.allowance({ token: USDC.address, owner: ACCOUNT, spender: ROUTER })).toBe(0n);
  expect(revocations(life)).toEqual([{ purpose: "revoke", to_address: USDC.address, state: "final" }]);
  expect(life.store.idleGrants()).toEqual([]);
});

test("what is spent already is forgotten only when that is final: a reorganisation could bring it back", async () => {
  const { outside, life } = begin(5n);
  outside.chain.mine();
  outside.chain.ledger.setAllowance(USDC.address, ACCOUNT, 0n);
  await revokeLeftovers(life.context);
  expect(life.store.idleGrants()).toEqual([grant]);
  for (let block = 0; block < 4; block += 1) outside.chain.mine();
  await revokeLeftovers(life.context);
  expect(life.store.idleGrants()).toEqual([]);
  expect(revocations(life)).toEqual([]);
});

test("what is spent is not forgotten while the swap that spent it may be taken back: its approval may stand alone then", async () => {
  for (const state of ["confirmed", "final"] as const) {
    const { life } = begin(0n);
    addRun(life.store, runSample({ swaps: [swapIn(state, { wallet: ACCOUNT })] }));
    await revokeLeftovers(life.context);
    expect(life.store.idleGrants()).toEqual(state === "final" ? [] : [grant]);
  }
});

test("what the chain shows none of is not forgotten while its approval may still be mined, or mined once more", async () => {
  const { life } = begin(0n);
  const block = { minedBlockNumber: 2, minedBlockHash: hash("bb"), minedAttemptHash: hash("aa") };
  life.lanes.insertIntent(
    intentRow({ ...{ id: "a", account: ACCOUNT, purpose: "approve" }, to: USDC.address, value: 0n }),
  );
  const course = [
    { state: "planned" },
    { state: "signed", nonce: 0 },
    { state: "broadcast" },
    { state: "mined", ...block },
    { state: "confirmed" },
    { state: "final", outcome: "succeeded" },
  ] as const;
  for (const change of course) {
    life.lanes.updateIntent("a", change);
    await revokeLeftovers(life.context);
    expect(life.store.idleGrants()).toEqual(change.state === "final" ? [] : [grant]);
  }
});

test("what nodes show none of that are behind by more than finality is not forgotten: their final block is older than the approval", async () => {
  const { outside, life } = begin(0n);
  const block = { minedBlockNumber: 103, minedBlockHash: hash("bb"), minedAttemptHash: hash("aa") };
  life.lanes.insertIntent(
    intentRow({ ...{ id: "a", account: ACCOUNT, purpose: "approve" }, to: USDC.address, value: 0n }),
  );
  const course = [
    { state: "signed", nonce: 0 },
    { state: "broadcast" },
    { state: "mined", ...block },
    { state: "confirmed" },
    { state: "final", outcome: "succeeded" },
  ] as const;
  for (const change of course) life.lanes.updateIntent("a", change);
  for (const number of [102, 103]) {
    while ((await outside.chain.finalized()).number < number) outside.chain.mine();
    await revokeLeftovers(life.context);
    expect(life.store.idleGrants()).toEqual(number === 103 ? [] : [grant]);
  }
});

test("what an order allowed is not forgotten at its cancellation, while its permit may still be brought to the token", async () => {
  const outside = createOutside(SLOT_MS - 1_500, { gasless: "only" } as Partial<StrategySpec>);
  const { chain, service } = outside;
  chain.holdsRelayed = true;
  const quote = service.quote.bind(service);
  const isOut = (): boolean => service.submissions.length > 0;
  service.quote = async (request) => (isOut() ? refusal("BUSY", true) : await quote(request));
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: isOut })).toBe(true);
  const { nonce, until } = life.db
    .prepare<[], { nonce: string; until: number }>("SELECT nonce, deadline_seconds AS until FROM swaps")
    .get() ?? { nonce: "0", until: 0 };
  chain.cancelNonce(ACCOUNT, BigInt(nonce));
  const isCancelled = (): boolean => life.db.prepare("SELECT state FROM swaps").pluck().get() === "cancelled";
  expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: isCancelled })).toBe(true);
  await turn(outside, life, 6);
  expect((await chain.latest()).timestamp).toBeLessThan(until);
  expect(life.store.idleGrants()).toEqual([grant]);
  chain.ledger.setAllowance(USDC.address, ACCOUNT, 100_000_000n);
  const isForgotten = (): boolean => life.store.idleGrants().length === 0;
  expect(await turnUntil(outside, life, { maxSeconds: 3_700, isDone: isForgotten })).toBe(true);
  await turn(outside, life, 120);
  expect([life.store.openDifferences(), life.errors]).toEqual([[], []]);
  expect(revocations(life)).toMatchObject([{ state: "final" }]);
});

test("one node's word forgets nothing: the endpoints that answer have to say together that there is none", async () => {
  const { outside, life } = begin(0n);
  const { chain } = outside;
  const agreed = chain.agreed.bind(chain);
  let isDisputed = true;
  chain.agreed = async () => {
    const reads = await agreed();
    const allowance: typeof reads.allowance = async (asked, block) => {
      if (isDisputed) throw new ChainReadError("disagreement", "a.example says 0, b.example 5");
      return await reads.allowance(asked, block);
    };
    return { ...reads, allowance };
  };
  await revokeLeftovers(life.context);
  expect(life.store.idleGrants()).toEqual([grant]);
  isDisputed = false;
  await revokeLeftovers(life.context);
  expect(life.store.idleGrants()).toEqual([]);
});

test.each([
  [30_000n, 120_000n],
  [600_000n, 920_000n],
])(
  "a revocation that used %d when it was tried out has %d of gas, and waits for a wallet that can pay it",
  async (used, limit) => {
    const { outside, life } = begin(5n);
    const simulate = outside.chain.simulate.bind(outside.chain);
    outside.chain.simulate = async (calls) => {
      const seen = await simulate(calls);
      return seen.kind === "ok" ? { ...seen, gasUsedByCall: [used] } : seen;
    };
    // At what gas costs now: a wallet that is nearly empty would wait for ever to have enough for the ceiling.
    const offered = 2n * outside.chain.baseFee + (await outside.chain.priorityFee());
    expect(offered).toBeLessThan(life.context.settings.policy.maxFeePerGas);
    outside.chain.nativeBalance = async () => limit * offered - 1n;
    await revokeLeftovers(life.context);
    expect(revocations(life)).toEqual([]);
    outside.chain.nativeBalance = async () => limit * offered;
    await revokeLeftovers(life.context);
    const limits = life.db.prepare<[], string>("SELECT gas_limit FROM lane_intents").pluck().all();
    expect(limits.map(BigInt)).toEqual([limit]);
  },
);

test("a revocation that the token refuses is not sent, and another token's is", async () => {
  const { outside, life } = begin(5n);
  const simulate = outside.chain.simulate.bind(outside.chain);
  outside.chain.ledger.setAllowance(WETH.address, ACCOUNT, 7n);
  life.store.writeRecord(runSample(), { kind: "grant", ...grant, token: WETH.address }, 1);
  outside.chain.simulate = async (calls) =>
    calls[0]?.to === USDC.address ? { kind: "reverted", way: "simulate", reason: "approve of zero" } : simulate(calls);
  await revokeLeftovers(life.context);
  expect(revocations(life)).toMatchObject([{ purpose: "revoke", to_address: WETH.address }]);
  expect(life.store.idleGrants()).toContainEqual(grant);
});

test("a token whose allowance is refused keeps no other one's from being taken back", async () => {
  const { outside, life } = begin(5n);
  const allowance = outside.chain.allowance.bind(outside.chain);
  outside.chain.ledger.setAllowance(WETH.address, ACCOUNT, 7n);
  life.store.writeRecord(runSample(), { kind: "grant", ...grant, token: WETH.address }, 1);
  outside.chain.allowance = async (asked, block) => {
    if (asked.token === USDC.address) throw new ChainReadError("refused", "execution reverted");
    return await allowance(asked, block);
  };
  await life.engine.start();
  await turn(outside, life, 20);
  expect(revocations(life)).toMatchObject([{ purpose: "revoke", to_address: WETH.address }]);
  expect([life.store.idleGrants(), life.errors]).toEqual([[grant], []]);
});

test("a leftover of a wallet that is configured no more is left alone, and all others are taken back", async () => {
  const { outside, life } = begin(5n);
  const gone = toAddress(`0x${"0d".repeat(20)}`);
  outside.chain.ledger.setAllowance(WETH.address, gone, 7n);
  outside.chain.ledger.credit(ETH.address, gone, 10n ** 18n);
  const left = { ...grant, wallet: gone, token: WETH.address };
  life.store.writeRecord(runSample(), { kind: "grant", ...left }, 1);
  await life.engine.start();
  await turn(outside, life, 20);
  expect(life.errors).toEqual([]);
  expect(revocations(life)).toMatchObject([{ purpose: "revoke", to_address: USDC.address }]);
  expect(life.store.idleGrants()).toEqual([left]);
});

test("a revocation that is on its way is not sent a second time", async () => {
  const { life } = begin(5n);
  await revokeLeftovers(life.context);
  await revokeLeftovers(life.context);
  expect(revocations(life)).toHaveLength(1);
});

test("a clock that stands behind the chain does not drop a revocation at once, to be made anew with each look", async () => {
  const { outside, life } = begin(5n);
  outside.clock.jumpTo(NOW_MS + 20 * 60_000);
  outside.chain.mine();
  outside.clock.jumpTo(NOW_MS);
  await revokeLeftovers(life.context);
  await life.lane.tick();
  expect(revocations(life)).toEqual([{ purpose: "revoke", to_address: USDC.address, state: "broadcast" }]);
});

test("nothing is taken back while a swap of wallet and token is open: it needs its allowance", async () => {
  const { life } = begin(5n);
  addRun(life.store, runSample({ swaps: [swapIn("submitted", { wallet: ACCOUNT })] }));
  await revokeLeftovers(life.context);
  expect(revocations(life)).toEqual([]);
});

test("nor when a swap slips in while the chain is being read", async () => {
  const { outside, life } = begin(5n);
  outside.chain.nativeBalance = async () => {
    addRun(life.store, runSample({ swaps: [swapIn("cleared", { wallet: ACCOUNT })] }));
    return 10n ** 18n;
  };
  await revokeLeftovers(life.context);
  expect(revocations(life)).toEqual([]);
});

test("nothing is signed for it while the strategy that granted it is halted, also when it waits in the lane", async () => {
  const halt = { setBy: "ops", reason: "r", atMs: 1 } as const;
  const { outside, life } = begin(5n);
  life.store.setMode({ ...halt, scope: "weekly", mode: "halted" });
  await revokeLeftovers(life.context);
  expect(revocations(life)).toEqual([]);
  life.store.setMode({ ...halt, scope: "weekly", mode: "active" });
  life.store.setMode({ ...halt, scope: "other", mode: "halted" });
  await revokeLeftovers(life.context);
  life.store.setMode({ ...halt, scope: "weekly", mode: "halted" });
  await life.lane.tick();
  expect(revocations(life)).toMatchObject([{ state: "planned" }]);
  expect(outside.signed).toEqual([]);
  life.store.setMode({ ...halt, scope: "weekly", mode: "paused" });
  await life.lane.tick();
  expect(revocations(life)).toMatchObject([{ state: "broadcast" }]);
});

test("nothing is signed for it while the wallet cannot pay, the daemon is halted, or the run is dry", async () => {
  const poor = begin(5n);
  poor.outside.chain.ledger.credit(ETH.address, ACCOUNT, -(10n ** 19n));
  await revokeLeftovers(poor.life.context);
  expect(revocations(poor.life)).toEqual([]);
  const halted = begin(5n);
  halted.life.store.setMode({ scope: "global", mode: "halted", setBy: "ops", reason: "r", atMs: 1 });
  await revokeLeftovers(halted.life.context);
  expect(revocations(halted.life)).toEqual([]);
  const dry = begin(5n, { settings: { live: false } });
  await revokeLeftovers(dry.life.context);
  expect(revocations(dry.life)).toEqual([]);
});

test("a leftover waits while gas is above the ceiling, and keeps no gasless swap of its token from being traded", async () => {
  const outside = createOutside(SLOT_MS - 1_500, { gasless: "only" } as Partial<StrategySpec>);
  const { chain } = outside;
  chain.baseFee = 60n * GWEI;
  chain.ledger.credit(ETH.address, ACCOUNT, 10n ** 20n);
  chain.mine();
  chain.ledger.setAllowance(USDC.address, ACCOUNT, 5n);
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  life.store.writeRecord(runSample(), { kind: "grant", ...grant }, 1);
  await life.engine.start();
  await turn(outside, life, 90);
  expect(life.db.prepare("SELECT DISTINCT state FROM runs").pluck().all()).toContain("filled");
  expect([revocations(life), life.errors]).toEqual([[], []]);
});

test("it is taken back once gas is below the ceiling again", async () => {
  const { outside, life } = begin(5n);
  onTestFinished(() => life.engine.stop());
  const calmFee = outside.chain.baseFee;
  outside.chain.baseFee = 60n * GWEI;
  outside.chain.ledger.credit(ETH.address, ACCOUNT, 10n ** 20n);
  outside.chain.mine();
  await life.engine.start();
  await turn(outside, life, 30);
  expect(revocations(life)).not.toContainEqual(expect.objectContaining({ purpose: "revoke" }));
  outside.chain.baseFee = calmFee;
  await turn(outside, life, 30);
  expect(revocations(life)).toContainEqual({ purpose: "revoke", to_address: USDC.address, state: "final" });
  expect(life.errors).toEqual([]);
});

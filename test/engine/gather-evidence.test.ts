import { expect, test } from "vitest";
import type { RunEvent } from "../../src/domain/run/events.ts";
import { gatherEvidence } from "../../src/engine/gather-evidence.ts";
import { registerStrategies } from "../../src/engine/register-strategies.ts";
import { HUNDRED_USDC, NOW_MS, ROUTER, runSample, SLOT_MS, USDC, usd, WETH } from "../support/builders.ts";
import { addRun } from "../support/daemon-database.ts";
import { ACCOUNT, createOutside, type Life, openLife } from "../support/engine-life.ts";
import { intentRow } from "../support/lane-database.ts";
import { decodedFor, hash, readingFor, signingSample, swapIn } from "../support/reading-samples.ts";

const owned = { wallet: ACCOUNT, recipient: ACCOUNT } as const;
const relayed = swapIn("quoted", { ...owned, mode: "gasless", gasless: "only" });
const rival = swapIn("confirmed", { ...owned, id: "run_2.0.1", runId: "run_2", mode: "gasless", gasless: "only" });

/** The swap that is judged, with its reading, and another swap of the token in the same wallet. */
async function begin(): Promise<Life> {
  const life = openLife(createOutside(NOW_MS));
  await registerStrategies(life.context);
  addRun(life.store, runSample({ swaps: [relayed] }));
  addRun(life.store, runSample({ id: "run_2", slotMs: SLOT_MS + 1, swaps: [rival] }));
  return life;
}

const signing = signingSample(HUNDRED_USDC);
const decoding = { ok: true, swap: decodedFor(relayed, { nonce: rival.terms?.nonce }) } as const;
const reading = readingFor(relayed, { signing, decoding });
const event = { kind: "facts-read", swapId: relayed.id, reading } as const;

function gather(life: Life, judged: RunEvent = event) {
  const run = life.store.run("run_1");
  if (run === undefined) throw new Error("the run has no row");
  return gatherEvidence(life.context, run, judged);
}

test("is plain data: it can be stored with its step, and the step taken again from it", async () => {
  const evidence = await gather(await begin());
  expect(structuredClone(evidence)).toEqual(evidence);
});

test("holds the rows that a reading is judged with only where a reading came", async () => {
  const life = await begin();
  const run = life.store.run("run_1");
  if (run === undefined) throw new Error("the run has no row");
  expect((await gatherEvidence(life.context, run, { kind: "started" })).ledger).toBeUndefined();
  expect((await gather(life)).ledger).toBeDefined();
});

test("counts what other swaps hold, and never the swap itself", async () => {
  const life = await begin();
  const right = { kind: "open-capability", wallet: ACCOUNT, token: USDC.address, spender: ROUTER } as const;
  const write = (runId: string, record: Parameters<Life["store"]["writeRecord"]>[1]): void => {
    const run = life.store.run(runId);
    if (run === undefined) throw new Error(`${runId} has no row`);
    life.store.writeRecord(run, record, NOW_MS);
  };
  write("run_1", { kind: "value", swapId: relayed.id, usd: usd("100") });
  write("run_1", { ...right, swapId: relayed.id, untilSeconds: 99 });
  const own = { isTokenBusy: false, lastFreed: undefined, isPermitIntended: false, reservedByOthers: HUNDRED_USDC };
  expect((await gather(life)).ledger).toEqual({ ...own, isNonceOfOther: true, spentTodayUsd: 0n, spentMonthUsd: 0n });
  write("run_1", { kind: "close-capability", swapId: relayed.id });
  write("run_2", { kind: "value", swapId: rival.id, usd: usd("40") });
  write("run_2", { ...right, swapId: rival.id, untilSeconds: 99 });
  const { digest = "0x", typedData = "" } = signing.permit ?? {};
  write("run_2", {
    ...{ kind: "intend-signature", swapId: rival.id, purpose: "permit", digest, typedData, validUntilSeconds: 1 },
  });
  expect((await gather(life)).ledger).toEqual({
    ...{ isTokenBusy: true, lastFreed: relayed.id, isPermitIntended: true, isNonceOfOther: true },
    ...{ spentTodayUsd: usd("40"), spentMonthUsd: usd("40"), reservedByOthers: HUNDRED_USDC },
  });
});

test("the day counts the trades of 24 hours, and the month those of 30 days", async () => {
  const life = await begin();
  const aDayMs = 86_400_000;
  for (const [days, dollars] of [
    [1, "5"],
    [10, "40"],
    [30, "300"],
    [31, "2000"],
  ] as const) {
    const soldMs = NOW_MS - days * aDayMs + 1;
    const swap = swapIn("submitted", { ...owned, id: `run_${days}d.0.1`, runId: `run_${days}d` });
    const sample = runSample({ id: swap.runId, slotMs: SLOT_MS - days * aDayMs, swaps: [swap] });
    const run = addRun(life.store, sample, { atMs: soldMs });
    life.store.writeRecord(run, { kind: "value", swapId: swap.id, usd: usd(dollars) }, soldMs);
    life.store.writeRecord(run, { kind: "spend", swapId: swap.id, amount: HUNDRED_USDC }, soldMs);
  }
  expect((await gather(life)).ledger).toMatchObject({ spentTodayUsd: usd("5"), spentMonthUsd: usd("345") });
});

test("a proposal to a Safe waits for the owners' word on every other swap of it, whatever that sells", async () => {
  const life = await begin();
  const run = life.store.run("run_2");
  if (run === undefined) throw new Error("run_2 has no row");
  const right = { wallet: ACCOUNT, token: WETH.address, spender: ROUTER, untilSeconds: 99 };
  life.store.writeRecord(run, { kind: "open-capability", swapId: rival.id, ...right }, NOW_MS);
  expect((await gather(life)).ledger).toMatchObject({ isTokenBusy: false });
  const built = { version: "1.4.1", nextNonce: 1n, nonce: 1n, isBoundToNonce: true, isAllowed: false } as const;
  const proposal = { kind: "built", ...built, since: { block: 1, nonce: 1n } } as const;
  const head = { ...reading.head, number: life.store.newestBlock(ACCOUNT) };
  const asked = { ...event, reading: { ...reading, proposal, head } };
  expect((await gather(life, asked)).ledger).toMatchObject({ isTokenBusy: true });
});

test.each([
  ["above the block that was read", 1, true],
  ["in the block that was read", 0, false],
])(
  "a revocation of the token that was mined %s makes what was read of its allowance old",
  async (_where, above, isOld) => {
    const life = await begin();
    life.lanes.insertIntent(
      intentRow({
        ...{ id: "revoke_1", account: ACCOUNT, purpose: "revoke", to: USDC.address, state: "confirmed", nonce: 0 },
        ...{ minedBlockNumber: reading.head.number + above, minedBlockHash: hash("ab"), minedAttemptHash: hash("cd") },
      }),
    );
    expect((await gather(life)).ledger).toMatchObject({ isTokenBusy: isOld });
  },
);

test("a nonce for a Safe that was read before its newest execution is old", async () => {
  const life = await begin();
  const built = { version: "1.4.1", nextNonce: 1n, nonce: 1n, isBoundToNonce: true, isAllowed: false } as const;
  const proposal = { kind: "built", ...built, since: { block: 1, nonce: 1n } } as const;
  const asked = (number: number) =>
    gather(life, { ...event, reading: { ...reading, proposal, head: { ...reading.head, number } } });
  const newest = life.store.newestBlock(ACCOUNT);
  expect(newest).toBeGreaterThan(0);
  expect((await asked(newest)).ledger).toMatchObject({ isTokenBusy: false });
  expect((await asked(newest - 1)).ledger).toMatchObject({ isTokenBusy: true });
});

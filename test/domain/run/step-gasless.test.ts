import { describe, expect, test } from "vitest";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import type { StepResult } from "../../../src/domain/run/draft.ts";
import type { GaslessObservation, RunEvent } from "../../../src/domain/run/events.ts";
import type { Evidence } from "../../../src/domain/run/evidence.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import { step } from "../../../src/domain/run/step.ts";
import { evidenceSample, firstRetryMs, HUNDRED_USDC, NOW_MS, ROUTER, runSample } from "../../support/builders.ts";
import { hash, observationSample, receiptFor, swapIn } from "../../support/reading-samples.ts";

const seconds = Math.floor(NOW_MS / 1_000);
const withoutNonce: Partial<Evidence> = { service: { contracts: oneContract(ROUTER), signatureHasNonce: false } };

function relayed(state: Parameters<typeof swapIn>[0], change: Partial<Swap> = {}): Swap {
  return swapIn(state, { mode: "gasless", ...change });
}

function stepOf(swap: Swap, event: RunEvent, facts: Partial<Evidence> = {}): StepResult {
  const state = swap.state === "confirmed" || swap.state === "final" ? "filled" : "executing";
  return step(runSample({ state, swaps: [swap] }), event, evidenceSample(facts));
}

function observe(swap: Swap, seen: Partial<GaslessObservation>, facts: Partial<Evidence> = {}): StepResult {
  return stepOf(swap, { kind: "observed", swapId: swap.id, observation: observationSample(seen) }, facts);
}

const stateOf = (result: StepResult) => result.run.swaps[0]?.state;
const pollsAgain = [{ effect: { kind: "ReadChain", swapId: "run_1.0.1" }, notBeforeMs: NOW_MS + 1_000 }] as const;
/** Blocks at which both deadlines (60 s after now) are past, or not yet. */
const past = { number: 170, timestampSeconds: seconds + 61 };
const notPast = { number: 169, timestampSeconds: seconds + 60 };

describe("signing", () => {
  const swap = relayed("cleared");
  const signed: RunEvent = {
    kind: "signed-gasless",
    swapId: swap.id,
    swapSignature: hash("51"),
    permitSignature: hash("52"),
  };

  test("both signatures are committed before either may leave", () => {
    const result = stepOf(swap, signed);
    expect(stateOf(result)).toBe("signed");
    expect(result.records).toEqual([
      { kind: "signature", digest: hash("5a"), signature: hash("51") },
      { kind: "signature", digest: hash("5b"), signature: hash("52") },
    ]);
    expect(result.effects[0]).toEqual({ effect: { kind: "SubmitGasless", swapId: swap.id }, notBeforeMs: NOW_MS });
    expect(result.run.swaps[0]?.signatures).toMatchObject({ swapSignature: hash("51"), permitSignature: hash("52") });
  });

  test("without an intent to sign is a broken invariant", () => {
    expect(() => stepOf(swapIn("cleared"), signed)).toThrow("without an intent to sign");
  });

  test("cannot happen twice, nor in any state but cleared", () => {
    for (const state of ["signed", "submitted", "unknown", "mined", "confirmed", "final", "expired"] as const) {
      expect(() => stepOf(relayed(state), signed), state).toThrow("invalid swap transition");
    }
  });

  test("that was forbidden at the last moment ends the swap unsigned, with its money and capability free", () => {
    const result = stepOf(swap, { kind: "signing-barred", swapId: swap.id, detail: "halted by ops: dry run" });
    expect(result.run).toMatchObject({ state: "skipped", reason: "signing_barred" });
    expect(result.records.slice(0, 2)).toEqual([
      { kind: "close-capability", swapId: swap.id },
      { kind: "release", swapId: swap.id },
    ]);
    expect(result.effects).toEqual([]);
    for (const state of ["signed", "submitted", "unknown"] as const) {
      const event = { kind: "signing-barred", swapId: swap.id, detail: "late" } as const;
      expect(() => stepOf(relayed(state), event), state).toThrow("invalid swap transition");
    }
  });
});

describe("handing over", () => {
  const swap = relayed("signed");

  test("an accepted swap is watched on the chain", () => {
    const result = stepOf(swap, { kind: "submission-accepted", swapId: swap.id, serviceSwapId: "s1" });
    expect(result.run.swaps[0]).toMatchObject({ state: "submitted", serviceSwapId: "s1" });
    expect(result.effects).toEqual(pollsAgain);
  });

  test("a lost answer proves nothing: the swap is unknown, keeps its money, alerts, and the chain is asked at once", () => {
    const result = stepOf(swap, { kind: "submission-unknown", swapId: swap.id, detail: "timeout" });
    expect(result.run.swaps[0]).toMatchObject({ state: "unknown", reason: "answer_lost" });
    expect(result.records).toMatchObject([{ kind: "alert", code: "SWAP_UNKNOWN" }]);
    expect(result.effects).toEqual([{ ...pollsAgain[0], notBeforeMs: NOW_MS }]);
    expect(result.run.state).toBe("executing");
  });

  test.each([
    [true, "it is signed and was handed over to nobody (halted)"],
    [false, "whether it was submitted is not known (halted)"],
  ])("one that was held back says whether it was ever handed over: %s", (isUnsent, why) => {
    const event = { kind: "submission-unknown", swapId: swap.id, detail: "halted", isUnsent } as const;
    expect(stepOf(swap, event).records).toMatchObject([{ code: "SWAP_UNKNOWN", text: expect.stringContaining(why) }]);
  });

  test("is answered once: a second answer cannot hand the swap over again", () => {
    for (const state of ["submitted", "unknown", "mined", "confirmed"] as const) {
      const event = { kind: "submission-accepted", swapId: swap.id, serviceSwapId: undefined } as const;
      expect(() => stepOf(relayed(state), event), state).toThrow("invalid swap transition");
    }
  });
});

describe("a fill that is seen", () => {
  const fill = receiptFor(relayed("submitted"), { blockNumber: 105 });

  test("is mined at once, confirmed with enough blocks on top, final with its block", () => {
    const mined = observe(relayed("submitted"), { fill });
    expect(stateOf(mined)).toBe("mined");
    expect(mined.records).toEqual([]);
    const confirmed = observe(mined.run.swaps[0]!, { fill, latest: { number: 106, timestampSeconds: seconds } });
    expect(stateOf(confirmed)).toBe("confirmed");
    expect(confirmed.run.state).toBe("filled");
    expect(confirmed.records).toContainEqual({ kind: "spend", swapId: "run_1.0.1", amount: HUNDRED_USDC });
    const final = observe(confirmed.run.swaps[0]!, {
      ...{ fill, latest: { number: 110, timestampSeconds: seconds } },
      finalized: { number: 105, timestampSeconds: seconds },
    });
    expect(stateOf(final)).toBe("final");
    expect(final.effects).toEqual([]);
    expect(final.records).toContainEqual({ kind: "close-capability", swapId: "run_1.0.1" });
  });

  test("after its answer was lost is found all the same", () => {
    expect(stateOf(observe(relayed("unknown"), { fill }))).toBe("mined");
  });

  test("in a final block goes all the way in one check, and is spent once", () => {
    const result = observe(relayed("unknown"), { fill, finalized: past, latest: past });
    expect(result.transitions.map(({ to }) => to)).toEqual(["mined", "confirmed", "final", "filled"]);
    expect(result.records.filter(({ kind }) => kind === "spend")).toHaveLength(1);
  });

  test("whose receipt lacks logs counts when they are there, or as the worst that was signed in its final block", () => {
    const bare = { ...fill, logs: [] };
    const near = { number: 105, timestampSeconds: seconds };
    const far = { ...near, number: 110 };
    const seen = observe(relayed("submitted"), { fill: bare, latest: far }).run.swaps[0] as Swap;
    expect(seen).toMatchObject({ state: "mined", fill: { assumed: true } });
    expect(stateOf(observe(seen, { fill, latest: far }))).toBe("confirmed");
    const final = observe(seen, { fill: bare, latest: far, finalized: near });
    expect(final.records).toContainEqual({ kind: "spend", swapId: "run_1.0.1", amount: HUNDRED_USDC });
    expect(final.records).toContainEqual(expect.objectContaining({ kind: "alert", code: "FILL_UNMEASURED" }));
    const part = { ...seen, state: "confirmed" as const, fill: { ...seen.fill, sold: 9n } as Swap["fill"] };
    const corrected = observe(part, { fill, latest: far, finalized: near });
    expect(corrected.run.swaps[0]).toMatchObject({ state: "final", fill: { sold: HUNDRED_USDC } });
    expect(corrected.records).toContainEqual({ kind: "spend", swapId: "run_1.0.1", amount: HUNDRED_USDC });
  });

  test("late counts although the swap was overdue", () => {
    const result = observe(relayed("unknown"), { fill, finalized: { number: 100, timestampSeconds: seconds + 61 } });
    expect(stateOf(result)).toBe("mined");
  });

  test("of which the block was reorganised away is taken back, and the chain is asked on", () => {
    const result = observe(relayed("confirmed"), { fill: undefined });
    expect(stateOf(result)).toBe("submitted");
    expect(result.records).toContainEqual({ kind: "unspend", swapId: "run_1.0.1", amount: HUNDRED_USDC });
    expect(result.run).toMatchObject({ state: "executing", reason: "reorganised" });
    expect(result.effects).toEqual(pollsAgain);
  });

  test("in another block than before is taken back and counted anew", () => {
    const moved = receiptFor(relayed("submitted"), { blockNumber: 104, blockHash: hash("b2") });
    const result = observe(relayed("confirmed"), { fill: moved });
    expect(result.transitions.map(({ to }) => to)).toEqual(["submitted", "mined", "confirmed"]);
    expect(result.records.map((record) => record.kind)).toEqual(["unspend", "spend", "close-capability"]);
    expect(result.run.state).toBe("filled");
  });
});

describe("a swap ends unfilled only when it can no longer land", () => {
  const open: readonly Swap[] = [relayed("submitted"), relayed("unknown")];

  test("expired: a finalised block is past both deadlines and the nonce is unused", () => {
    for (const swap of open) {
      const result = observe(swap, { finalized: past, latest: past });
      expect(result.run).toMatchObject({ state: "failed", reason: "expired" });
      expect(result.records.slice(0, 2)).toEqual([
        { kind: "release", swapId: swap.id },
        { kind: "close-capability", swapId: swap.id },
      ]);
      expect(result.effects).toEqual([]);
    }
  });

  test.each([
    ["the finalised block is exactly at the deadline", { finalized: notPast, latest: past }],
    ["only the latest block is past the deadlines", { latest: past }],
    ["it is not known whether the nonce is used", { finalized: past, latest: past, nonceUsed: undefined }],
  ] as const)("not while %s", (_name, seen) => {
    for (const swap of open) {
      const result = observe(swap, seen);
      expect(result.transitions).toEqual([]);
      expect(result.records).toEqual([]);
      expect(result.effects).toEqual(pollsAgain);
    }
  });

  test("not while the permit alone is still good: it is as much a right to take the money", () => {
    const signatures = { ...relayed("submitted").signatures, permitDeadlineSeconds: seconds + 90 } as NonNullable<
      Swap["signatures"]
    >;
    const swap = relayed("submitted", { signatures });
    expect(stateOf(observe(swap, { finalized: past, latest: past }))).toBe("submitted");
    const later = { number: 200, timestampSeconds: seconds + 91 };
    expect(stateOf(observe(swap, { finalized: later, latest: later }))).toBe("expired");
  });

  test("cancelled: a finalised block says that the nonce is used, and there is no fill", () => {
    for (const swap of open) {
      const result = observe(swap, { nonceUsed: true });
      expect(result.run).toMatchObject({ state: "failed", reason: "cancelled" });
      expect(result.records).toContainEqual({ kind: "release", swapId: swap.id });
    }
  });

  test("a used nonce does not cancel what has a fill", () => {
    const fill = receiptFor(relayed("submitted"), { blockNumber: 105 });
    expect(stateOf(observe(relayed("submitted"), { nonceUsed: true, fill }))).toBe("mined");
  });
});

describe("signatures without a nonce", () => {
  const swap = relayed("submitted");
  const gone = { finalized: past, latest: past, nonceUsed: undefined };

  test("expire when both deadlines are finally past, nothing flowed out, and no allowance is left", () => {
    expect(stateOf(observe(swap, gone, withoutNonce))).toBe("expired");
  });

  test.each([
    ["a deadline is ahead", { ...gone, finalized: notPast }],
    ["an allowance is left that the signature could spend", { ...gone, allowance: 1n }],
    ["the service still says pending", { ...gone, serviceStatus: "pending" }],
    ["an outflow is not explained", { ...gone, isUnexplained: true }],
    ["an endpoint may list what the others hide", { ...gone, unlistedBy: ["rpc2.example"] }],
  ] as const)("do not while %s", (_name, seen) => {
    const result = observe(swap, seen, withoutNonce);
    expect(stateOf(result)).toBe("submitted");
    expect(result.effects).toEqual(pollsAgain);
  });

  test("have a leftover of their permit revoked once, and end only when it is gone", () => {
    const first = observe(swap, { ...gone, allowance: 5n }, withoutNonce);
    const [request] = first.records.flatMap((record) => (record.kind === "transaction" ? [record.request] : []));
    expect(request).toMatchObject({ purpose: "revoke", to: swap.sell.address, value: 0n });
    expect(request?.data).toMatch(/^0x095ea7b3[0-9a-f]{64}0{64}$/);
    const waiting = first.run.swaps[0] as Swap;
    expect(waiting.revokeIntentId).toBe(request?.id);
    const again = observe(waiting, { ...gone, allowance: 5n }, withoutNonce);
    expect(again.records.filter((record) => record.kind === "transaction")).toEqual([]);
    expect(stateOf(observe(waiting, gone, withoutNonce))).toBe("expired");
  });

  test("are held an hour at most by an endpoint that lists nothing, in which looks were taken, and the reason is told", () => {
    const seen = { ...gone, unlistedBy: ["rpc2.example"] };
    const look = (swap: Swap, nowMs: number, what: Partial<GaslessObservation> = seen) =>
      observe(swap, what, { ...withoutNonce, nowMs });
    const told: unknown[] = [];
    let rows = 0;
    const hold = (swap: Swap, nowMs: number): Swap => {
      const result = look(swap, nowMs);
      expect(stateOf(result)).toBe("unknown");
      told.push(...result.records.map((record) => (record.kind === "alert" ? record.text : record.kind)));
      rows += result.run.swaps[0] === swap ? 0 : 1;
      return result.run.swaps[0] as Swap;
    };
    const startMs = (seconds + 62) * 1_000;
    // Long before a block of after its deadline is final it is unknown, and people are told so.
    let held = look(relayed("submitted"), startMs, { finalized: notPast, latest: past, nonceUsed: undefined }).run
      .swaps[0] as Swap;
    // A minute of looks each second, then the machine is off for a day, and the clock is set back by two.
    for (let second = 0; second <= 60; second += 1) held = hold(held, startMs + second * 1_000);
    expect([rows, told]).toEqual([2, [expect.stringContaining("rpc2.example did not list the wallet's transfers")]]);
    for (const day of [1, -1]) held = hold(held, startMs + day * 86_400_000);
    // So far at most the minute and two more; the looks of an hour less these still hold it.
    const fromMs = startMs - 86_400_000;
    for (let minute = 1; minute < 57; minute += 1) held = hold(held, fromMs + minute * 60_000);
    held = hold(held, fromMs + 57 * 60_000);
    expect(stateOf(look(held, fromMs + 58 * 60_000))).toBe("expired");
    expect(told).toHaveLength(1);
  });

  test("have a leftover of their permit revoked also while an endpoint lists nothing", () => {
    const result = observe(swap, { ...gone, allowance: 5n, unlistedBy: ["rpc2.example"] }, withoutNonce);
    expect(result.records.map(({ kind }) => kind)).toEqual(["transaction"]);
  });

  test("are not filled for good, before their deadline, by what does not show the exchange: theirs may still come", () => {
    const final = {
      finalized: { number: 105, timestampSeconds: seconds },
      latest: { number: 110, timestampSeconds: seconds },
    };
    const byHand = receiptFor(swap, { blockNumber: 103, hash: hash("aa"), blockHash: hash("ab"), logs: [] });
    const seen = observe(swap, { ...final, fill: byHand, nonceUsed: undefined }, withoutNonce);
    expect([stateOf(seen), seen.effects]).toEqual(["mined", pollsAgain]);
    const waiting = seen.run.swaps[0] as Swap;
    const own = receiptFor(swap, { blockNumber: 104 });
    const filled = observe(waiting, { ...final, fill: own, nonceUsed: undefined }, withoutNonce);
    expect(filled.run.swaps[0]).toMatchObject({ state: "final", fill: { hash: own.hash } });
    expect(filled.run.swaps[0]?.fill).not.toHaveProperty("assumed");
    const over = observe(waiting, { ...gone, fill: byHand }, withoutNonce);
    expect(over.run.swaps[0]).toMatchObject({ state: "final", fill: { hash: byHand.hash, assumed: true } });
  });

  test("never end by what the service says alone", () => {
    for (const serviceStatus of ["success", "error", "expired", "cancelled"]) {
      expect(stateOf(observe(swap, { serviceStatus, nonceUsed: undefined }, withoutNonce))).toBe("submitted");
    }
  });

  test("hold wallet and token until the deadline is past, whatever end came: the old signature could still spend", () => {
    const fill = receiptFor(swap, { blockNumber: 99 });
    const final = observe(swap, { fill, nonceUsed: undefined }, withoutNonce);
    expect(stateOf(final)).toBe("final");
    expect(final.records.map((record) => record.kind)).not.toContain("close-capability");
    expect(final.effects.at(-1)).toEqual(pollsAgain[0]);
    const held = observe(relayed("final"), { nonceUsed: undefined }, withoutNonce);
    expect([held.transitions, held.records]).toEqual([[], []]);
    expect(held.effects).toEqual(pollsAgain);
    const freed = observe(relayed("final"), gone, withoutNonce);
    expect(freed.records).toEqual([{ kind: "close-capability", swapId: swap.id }]);
    expect(freed.effects).toEqual([]);
  });
});

test("an order without a nonce holds wallet and token until its deadline also where today's service has nonces", () => {
  const { terms } = relayed("submitted");
  if (terms === undefined) throw new Error("the sample has no terms");
  const change = { terms: { ...terms, nonce: undefined } };
  const fill = receiptFor(relayed("submitted"), { blockNumber: 99 });
  const final = observe(relayed("submitted", change), { fill, nonceUsed: undefined });
  expect(stateOf(final)).toBe("final");
  expect(final.records.map((record) => record.kind)).not.toContain("close-capability");
  const over = { fill: undefined, nonceUsed: undefined, finalized: past, latest: past };
  expect(observe(relayed("final", change), over).records).toEqual([{ kind: "close-capability", swapId: "run_1.0.1" }]);
});

describe("a swap that is overdue", () => {
  const late = { nowMs: (seconds + 61) * 1_000 };

  test("is called unknown and alerts once, and keeps its money", () => {
    const result = observe(relayed("submitted"), {}, late);
    expect(result.run.swaps[0]).toMatchObject({ state: "unknown", reason: "overdue" });
    expect(result.records).toMatchObject([{ kind: "alert", code: "SWAP_UNKNOWN" }]);
    expect(result.run.state).toBe("executing");
    const again = observe(relayed("unknown"), {}, late);
    expect([again.transitions, again.records]).toEqual([[], []]);
    expect(again.effects).toHaveLength(1);
  });

  test.each([
    ["the service still says that it is at work on it", { serviceStatus: "pending" }, {}],
    ["USDC left the wallet that nobody explains: see swapd db check", { isUnexplained: true }, {}],
    [
      "one and two did not list the wallet's transfers of USDC, and its balance does not prove that none was hidden",
      { unlistedBy: ["one", "two"] },
      {},
    ],
    ["its allowance is not taken back while nothing is signed", { allowance: 1n }, { signingBarred: "halted" }],
    ["the nodes do not show whether its nonce was used", {}, { service: evidenceSample({}).service }],
  ])("says so too where a finalised block is past its deadline already, and what holds it: %s", (why, seen, facts) => {
    const asked = { ...withoutNonce, ...late, ...facts };
    const over = { finalized: past, latest: past, nonceUsed: undefined, ...seen };
    const result = observe(relayed("submitted"), over, asked);
    expect(result.run.swaps[0]).toMatchObject({ state: "unknown", reason: "overdue" });
    expect(result.transitions).toMatchObject([{ to: "unknown", detail: why }]);
    expect(result.records).toMatchObject([
      { code: "SWAP_UNKNOWN", text: expect.stringContaining(`past, but ${why};`) },
    ]);
    expect(observe(result.run.swaps[0] as Swap, over, asked).records).toEqual([]);
    // What was told before was of another reason.
    const again = observe(relayed("unknown", { heldBy: "no finalised block says so yet" }), over, asked);
    expect([again.transitions, again.records]).toMatchObject([[], [{ text: expect.stringContaining(`but ${why};`) }]]);
  });

  test("says nothing where the leftover of its permit is being taken back, or where it ends", () => {
    const over = { finalized: past, latest: past, nonceUsed: undefined };
    const asked = { ...withoutNonce, ...late };
    const back = observe(relayed("submitted"), { ...over, allowance: 1n }, asked);
    expect([stateOf(back), back.records.map(({ kind }) => kind)]).toEqual(["submitted", ["transaction"]]);
    expect(stateOf(observe(relayed("submitted"), over, asked))).toBe("expired");
  });

  test("takes the leftover of its permit back also while only what cannot be proved bars signing", () => {
    const over = { finalized: past, latest: past, nonceUsed: undefined, allowance: 1n };
    const asked = { ...withoutNonce, ...late, signingBarred: "halted", mayRevoke: true };
    expect(observe(relayed("submitted"), over, asked).records.map(({ kind }) => kind)).toEqual(["transaction"]);
    const dry = observe(relayed("submitted"), over, { ...asked, live: false });
    expect(dry.records.map(({ kind }) => kind)).toEqual(["alert"]);
  });

  test("is never tried again before the chain has answered, however much of the window is left", () => {
    for (const state of ["submitted", "unknown"] as const) {
      const result = observe(relayed(state), {}, late);
      expect(result.run.swaps).toHaveLength(1);
      expect(result.effects.map(({ effect }) => effect.kind)).toEqual(["ReadChain"]);
    }
  });
});

test("a chain that cannot be read proves nothing: it is asked again", () => {
  for (const state of ["submitted", "unknown", "mined", "confirmed"] as const) {
    const swap = relayed(state);
    const result = stepOf(swap, { kind: "observation-unavailable", swapId: swap.id, detail: "no node answered" });
    expect(result.run.swaps[0]).toEqual(swap);
    const nextMs = firstRetryMs(NOW_MS, 1_000);
    const why = { reason: "node_unavailable", detail: "no node answered" };
    expect(result.transitions).toEqual([]);
    expect(result.records).toEqual([{ kind: "retry", about: swap.id, ...why, nextMs }]);
    expect(result.effects).toEqual([{ effect: { kind: "ReadChain", swapId: swap.id }, notBeforeMs: nextMs }]);
  }
});

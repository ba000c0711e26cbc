import { describe, expect, test } from "vitest";
import type { RunEvent, TransactionChange } from "../../../src/domain/run/events.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import { SWAP_STATES, type SwapState } from "../../../src/domain/run/states.ts";
import { step } from "../../../src/domain/run/step.ts";
import { evidenceSample, NOW_MS, runSample } from "../../support/builders.ts";
import { hash, observationSample, quoteSample, readingFor, receiptFor, swapIn } from "../../support/reading-samples.ts";

/**
 * Every event in every state of a swap. `moves` lists where an event leads; in the states of `stays` it moves nothing;
 * in every other state it is refused, because it cannot happen there unless something is broken.
 */
interface Row {
  readonly event: (swap: Swap) => RunEvent;
  readonly mode?: "gasless";
  readonly moves: Partial<Record<SwapState, SwapState>>;
  readonly stays?: readonly SwapState[];
}

const ALL = SWAP_STATES;
const QUOTABLE = ["planned", "quoted", "cleared", "approving"] as const;
/** Nothing was handed to a lane in these. */
const LANELESS = ["planned", "quoted", "skipped", "denied"] as const;
const ENDED = ["final", "skipped", "denied", "reverted", "expired", "cancelled"] as const;
const swapId = "run_1.0.1";
const late = { number: 500, timestampSeconds: Math.floor(NOW_MS / 1_000) + 100 };

function lane(change: TransactionChange | ((swap: Swap) => TransactionChange)): Row["event"] {
  return (swap) => ({
    ...{ kind: "transaction", swapId, intentId: swap.intentId ?? `${swapId}.swap` },
    change: typeof change === "function" ? change(swap) : change,
  });
}

function seen(change: Parameters<typeof observationSample>[0]): Row["event"] {
  return () => ({ kind: "observed", swapId, observation: observationSample(change) });
}

const fill = receiptFor(swapIn("submitted", { mode: "gasless" }), { blockNumber: 105 });

const ROWS: Readonly<Record<string, Row>> = {
  "a quote": {
    event: (swap) => ({ kind: "quoted", swapId, quote: quoteSample(swap), gasless: false }),
    moves: { planned: "quoted", quoted: "quoted", cleared: "quoted", approving: "quoted" },
  },
  "a refusal for good": {
    event: () => ({ kind: "quote-refused", swapId, gasless: false, code: "C", message: "m", retryable: false }),
    moves: { planned: "skipped", quoted: "skipped", cleared: "skipped", approving: "skipped" },
  },
  "a passing refusal": {
    event: () => ({ kind: "quote-refused", swapId, gasless: false, code: "C", message: "m", retryable: true }),
    moves: {},
    stays: QUOTABLE,
  },
  "facts that are all right": {
    event: (swap) => ({ kind: "facts-read", swapId, reading: readingFor(swap) }),
    moves: { quoted: "cleared" },
  },
  "unreadable facts": {
    event: () => ({ kind: "facts-unavailable", cause: "node", swapId, detail: "d" }),
    moves: {},
    stays: QUOTABLE,
  },
  "both signatures": {
    event: () => ({ kind: "signed-gasless", swapId, swapSignature: hash("51"), permitSignature: hash("52") }),
    mode: "gasless",
    moves: { cleared: "signed" },
  },
  "a bar on signing": {
    event: () => ({ kind: "signing-barred", swapId, detail: "halted" }),
    mode: "gasless",
    moves: { planned: "skipped", quoted: "skipped", cleared: "skipped", approving: "skipped" },
  },
  "an accepted handing over": {
    event: () => ({ kind: "submission-accepted", swapId, serviceSwapId: undefined }),
    mode: "gasless",
    moves: { signed: "submitted" },
  },
  "a lost answer": {
    event: () => ({ kind: "submission-unknown", swapId, detail: "d" }),
    mode: "gasless",
    moves: { signed: "unknown" },
  },
  "a check that shows nothing": {
    event: seen({}),
    mode: "gasless",
    moves: { mined: "submitted", confirmed: "submitted" },
    stays: ["cleared", "approving", "signed", "submitted", "unknown", ...ENDED],
  },
  "a check that shows a fill": {
    event: seen({ fill }),
    mode: "gasless",
    moves: { signed: "mined", submitted: "mined", unknown: "mined", mined: "mined" },
    stays: ["confirmed", ...ENDED],
  },
  "a check that shows a final fill": {
    event: seen({ fill, finalized: late, latest: late }),
    mode: "gasless",
    moves: { signed: "final", submitted: "final", unknown: "final", mined: "final", confirmed: "final" },
    stays: ENDED,
  },
  "a check past both deadlines": {
    event: seen({ finalized: late, latest: late }),
    mode: "gasless",
    moves: {
      ...{ signed: "expired", submitted: "expired", unknown: "expired" },
      ...{ mined: "submitted", confirmed: "submitted" },
    },
    stays: ENDED,
  },
  "a check that shows the nonce used without a fill": {
    event: seen({ nonceUsed: true }),
    mode: "gasless",
    moves: {
      ...{ signed: "cancelled", submitted: "cancelled", unknown: "cancelled" },
      ...{ mined: "submitted", confirmed: "submitted" },
    },
    stays: ENDED,
  },
  "a chain that cannot be read": {
    event: () => ({ kind: "observation-unavailable", swapId, detail: "d" }),
    mode: "gasless",
    moves: {},
    stays: ALL,
  },
  "a signed transaction": {
    event: lane({ kind: "signed", hash: hash("ee") }),
    moves: { cleared: "signed" },
    stays: ["approving", ...LANELESS],
  },
  "a broadcast transaction": {
    event: lane({ kind: "broadcast", hash: hash("ee") }),
    moves: { signed: "submitted" },
    stays: ALL.filter((state) => state !== "signed"),
  },
  "a mined transaction": {
    event: lane((swap) => ({ kind: "mined", receipt: receiptFor(swap), value: 0n })),
    moves: { signed: "mined", submitted: "mined", unknown: "mined", mined: "mined" },
    stays: ["approving", ...LANELESS],
  },
  "a confirmed transaction": {
    event: lane({ kind: "confirmed", succeeded: true }),
    moves: { mined: "confirmed" },
    stays: ALL.filter((state) => state !== "mined"),
  },
  "a reorganised transaction": {
    event: lane({ kind: "reorged" }),
    moves: { mined: "submitted", confirmed: "submitted" },
    stays: ALL.filter((state) => state !== "mined" && state !== "confirmed"),
  },
  "a transaction that is finally in the chain": {
    event: lane({ kind: "final", outcome: "succeeded" }),
    moves: { mined: "final", confirmed: "final" },
    stays: ["approving", ...LANELESS],
  },
  "a transaction that finally reverted": {
    event: lane({ kind: "final", outcome: "reverted" }),
    moves: {
      ...{ approving: "skipped", signed: "reverted", submitted: "reverted", unknown: "reverted" },
      ...{ mined: "reverted", confirmed: "reverted" },
    },
    stays: LANELESS,
  },
  "a transaction whose nonce a cancellation took": {
    event: lane({ kind: "final", outcome: "cancelled" }),
    moves: {
      ...{ approving: "skipped", signed: "cancelled", submitted: "cancelled", unknown: "cancelled" },
      ...{ mined: "cancelled", confirmed: "cancelled" },
    },
    stays: LANELESS,
  },
  "a transaction that was never signed": {
    event: lane({ kind: "dropped", reason: "too dear" }),
    moves: { approving: "skipped", cleared: "skipped" },
    stays: LANELESS,
  },
  "a route": {
    event: () => ({ kind: "route-read", swapId, distributions: "[]", serviceRecord: undefined }),
    moves: {},
    stays: ALL,
  },
};

for (const [name, row] of Object.entries(ROWS)) {
  describe(name, () => {
    for (const state of SWAP_STATES) {
      const swap = swapIn(state, row.mode === undefined ? {} : { mode: row.mode, gasless: "prefer" });
      const run = runSample({ swaps: [swap] });
      const apply = () => step(run, row.event(swap), evidenceSample());
      const target = row.moves[state];
      if (target !== undefined) {
        test(`moves ${state} to ${target}`, () => expect(apply().run.swaps[0]?.state).toBe(target));
      } else if (row.stays?.includes(state)) {
        test(`leaves ${state} and its money alone`, () => {
          const result = apply();
          expect(result.run.swaps.map((other) => other.state)).toEqual([state]);
          const money = [
            "reserve",
            "spend",
            "unspend",
            "release",
            "open-capability",
            "transaction",
            "intend-signature",
          ];
          expect(result.records.filter(({ kind }) => money.includes(kind))).toEqual([]);
          expect(result.effects.map(({ effect }) => effect.kind)).not.toContain("SignGasless");
          expect(result.effects.map(({ effect }) => effect.kind)).not.toContain("SubmitGasless");
        });
      } else {
        test(`is refused in ${state}`, () =>
          expect(apply).toThrow(/^invalid swap transition|checked before it is quoted|signed without an intent/));
      }
    }
  });
}

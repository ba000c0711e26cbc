import { describe, expect, test } from "vitest";
import {
  assertRunTransition,
  assertSwapTransition,
  InvalidTransition,
  isFilled,
  isLive,
  isRunEnd,
  isSwapEnd,
  RUN_STATES,
  RUN_TRANSITIONS,
  type RunState,
  SWAP_STATES,
  SWAP_TRANSITIONS,
  type SwapState,
} from "../../../src/domain/run/states.ts";

/** The machines as they are described, written down a second time: a change of the table must be meant. */
const RUN_ARROWS: Record<RunState, string> = {
  due: "deciding skipped failed",
  deciding: "executing skipped failed",
  executing: "filled partial skipped failed parked",
  parked: "executing failed skipped",
  filled: "executing",
  partial: "executing",
  failed: "executing",
  skipped: "",
};

const SWAP_ARROWS: Record<SwapState, string> = {
  planned: "quoted skipped denied",
  quoted: "quoted cleared skipped denied",
  cleared: "approving signed quoted skipped denied",
  approving: "quoted skipped denied",
  signed: "submitted mined unknown reverted expired cancelled",
  submitted: "mined unknown reverted expired cancelled",
  unknown: "submitted mined reverted expired cancelled",
  mined: "submitted confirmed final reverted expired cancelled",
  confirmed: "submitted final reverted expired cancelled",
  final: "",
  skipped: "",
  denied: "",
  reverted: "",
  expired: "",
  cancelled: "",
};

const UNSIGNED: readonly SwapState[] = ["planned", "quoted", "cleared", "approving"];
const SIGNED: readonly SwapState[] = ["signed", "submitted", "mined", "confirmed", "unknown"];
const ENDS: readonly SwapState[] = ["final", "skipped", "denied", "reverted", "expired", "cancelled"];

describe("every pair of states is listed, or is an error that names both", () => {
  for (const from of RUN_STATES) {
    for (const to of RUN_STATES) {
      const listed = RUN_ARROWS[from].split(" ").includes(to);
      test(`run ${from} -> ${to} is ${listed ? "legal" : "invalid"}`, () => {
        if (listed) return expect(() => assertRunTransition(from, to)).not.toThrow();
        expect(() => assertRunTransition(from, to)).toThrow(new InvalidTransition("run", from, to));
      });
    }
  }
  for (const from of SWAP_STATES) {
    for (const to of SWAP_STATES) {
      const listed = SWAP_ARROWS[from].split(" ").includes(to);
      test(`swap ${from} -> ${to} is ${listed ? "legal" : "invalid"}`, () => {
        if (listed) return expect(() => assertSwapTransition(from, to)).not.toThrow();
        expect(() => assertSwapTransition(from, to)).toThrow(new InvalidTransition("swap", from, to));
      });
    }
  }
});

test("a swap that was signed can never be called skipped or denied: those say that nothing was signed", () => {
  for (const from of SIGNED) {
    for (const reachable of reachableFrom(from)) expect(["skipped", "denied"]).not.toContain(reachable);
  }
});

test("nothing is signed but out of cleared, and nothing is cleared but out of a fresh quote", () => {
  const before = (to: SwapState): SwapState[] => SWAP_STATES.filter((from) => SWAP_TRANSITIONS[from].includes(to));
  expect(before("signed")).toEqual(["cleared"]);
  expect(before("cleared")).toEqual(["quoted"]);
  expect(before("approving")).toEqual(["cleared"]);
});

test("a swap that was signed never goes back to a state from which it could be signed again", () => {
  for (const from of SIGNED) {
    for (const reachable of reachableFrom(from)) expect(UNSIGNED).not.toContain(reachable);
  }
});

test("every open swap can still end, and unknown is no end", () => {
  for (const state of [...UNSIGNED, ...SIGNED]) {
    expect(isSwapEnd(state)).toBe(false);
    expect([...reachableFrom(state)].some((reachable) => isSwapEnd(reachable))).toBe(true);
  }
  for (const state of ENDS) expect(isSwapEnd(state)).toBe(true);
});

test("a reorganisation takes mined and confirmed back, and only final is beyond its reach", () => {
  expect(SWAP_TRANSITIONS.mined).toContain("submitted");
  expect(SWAP_TRANSITIONS.confirmed).toContain("submitted");
  expect(SWAP_TRANSITIONS.final).toEqual([]);
});

test("money may still move in exactly the signed states, and has come in confirmed and final", () => {
  expect(SWAP_STATES.filter(isLive).sort()).toEqual([...SIGNED].sort());
  expect(SWAP_STATES.filter(isFilled)).toEqual(["confirmed", "final"]);
});

test("a skipped run traded nothing, so nothing reopens it; every other end can be reopened by a reorganisation", () => {
  expect(RUN_STATES.filter(isRunEnd)).toEqual(["filled", "partial", "skipped", "failed"]);
  expect(RUN_TRANSITIONS.skipped).toEqual([]);
  for (const end of ["filled", "partial", "failed"] as const) expect(RUN_TRANSITIONS[end]).toEqual(["executing"]);
  expect(isRunEnd("parked")).toBe(false);
});

function reachableFrom(start: SwapState): ReadonlySet<SwapState> {
  const seen = new Set<SwapState>();
  const open: SwapState[] = [start];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    for (const next of SWAP_TRANSITIONS[state]) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(next);
    }
  }
  return seen;
}

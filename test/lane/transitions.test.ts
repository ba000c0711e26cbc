import { describe, expect, it } from "vitest";
import {
  ATTEMPT_TRANSITIONS,
  assertAttemptTransition,
  assertIntentTransition,
  INTENT_TRANSITIONS,
} from "../../src/lane/transitions.ts";
import type { AttemptState, IntentState } from "../../src/ports/lane-store.ts";

/** Listed a second time, so that a changed move must be meant. */
const INTENT_MOVES: readonly [IntentState, IntentState][] = [
  ["planned", "signed"],
  ["planned", "dropped"],
  ["signed", "broadcast"],
  ["signed", "mined"],
  ["signed", "final"],
  ["broadcast", "mined"],
  ["broadcast", "final"],
  ["mined", "confirmed"],
  ["mined", "broadcast"],
  ["confirmed", "final"],
  ["confirmed", "broadcast"],
];

const ATTEMPT_MOVES: readonly [AttemptState, AttemptState][] = [
  ["signed", "broadcast"],
  ["signed", "mined"],
  ["signed", "replaced"],
  ["signed", "dropped"],
  ["broadcast", "mined"],
  ["broadcast", "replaced"],
  ["broadcast", "dropped"],
  ["mined", "confirmed"],
  ["mined", "reverted"],
  ["mined", "broadcast"],
  ["confirmed", "broadcast"],
  ["reverted", "broadcast"],
];

const INTENT_STATES = Object.keys(INTENT_TRANSITIONS) as IntentState[];
const ATTEMPT_STATES = Object.keys(ATTEMPT_TRANSITIONS) as AttemptState[];

function pairs<State>(states: readonly State[]): [State, State][] {
  return states.flatMap((from) => states.map((to): [State, State] => [from, to]));
}

function has<State>(moves: readonly [State, State][], [from, to]: [State, State]): boolean {
  return moves.some((move) => move[0] === from && move[1] === to);
}

describe("an intent", () => {
  it.each(pairs(INTENT_STATES))("moves from %s to %s only if that is listed", (from, to) => {
    const move = () => assertIntentTransition(from, to);
    if (has(INTENT_MOVES, [from, to])) expect(move).not.toThrow();
    else expect(move).toThrow(`invalid transition of an intent: ${from} -> ${to}`);
  });

  it("never leaves an end, and can never be dropped once it was signed", () => {
    expect(INTENT_TRANSITIONS.final).toEqual([]);
    expect(INTENT_TRANSITIONS.dropped).toEqual([]);
    const intoDropped = INTENT_STATES.filter((from) => INTENT_TRANSITIONS[from].includes("dropped"));
    expect(intoDropped).toEqual(["planned"]);
  });
});

describe("an attempt", () => {
  it.each(pairs(ATTEMPT_STATES))("moves from %s to %s only if that is listed", (from, to) => {
    const move = () => assertAttemptTransition(from, to);
    if (has(ATTEMPT_MOVES, [from, to])) expect(move).not.toThrow();
    else expect(move).toThrow(`invalid transition of an attempt: ${from} -> ${to}`);
  });

  it("that was mined becomes broadcast again before it can be anything else", () => {
    for (const state of ["confirmed", "reverted"] as const) expect(ATTEMPT_TRANSITIONS[state]).toEqual(["broadcast"]);
  });
});

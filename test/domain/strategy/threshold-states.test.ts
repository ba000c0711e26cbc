import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { SkipReason } from "../../../src/domain/strategy/decision.ts";
import { decideStrategy, strategyRunEnded } from "../../../src/domain/strategy/strategy.ts";
import type { LegMemory, LegState, ThresholdMemory } from "../../../src/domain/strategy/threshold-memory.ts";
import type { ThresholdLeg } from "../../../src/domain/strategy/threshold-spec.ts";
import { leg, spec, usdc } from "./threshold-world.ts";
import { of, USDC, view, WETH } from "./world.ts";

const PAGE = new URL("../../../docs/strategies/threshold.md", import.meta.url);
const NOW_MS = 1_700_000_000_000;
const REARM = { cooldownSeconds: 600, times: undefined };

/** A sale below 2400 of each kind; only a trailing stop trades once. */
const LEGS: Readonly<Record<string, ThresholdLeg>> = {
  crossing: leg({
    trigger: { kind: "cross", side: "below", price: usdc(2_400) },
    rearm: { ...REARM, price: usdc(2_600) },
  }),
  level: leg({ trigger: { kind: "level", side: "below", price: usdc(2_400) }, rearm: { ...REARM, price: undefined } }),
  limit: leg({
    trigger: { kind: "limit", side: "below", price: usdc(2_400) },
    rearm: { ...REARM, price: usdc(2_600) },
  }),
  trail: leg({ trigger: { kind: "trail", share: toPpm(200_000), activateAt: usdc(2_000) } }),
};

const ATTEMPTS = { failures: 0, unmet: 0 };

const STATES: Readonly<Record<string, LegState>> = {
  baseline: { state: "baseline" },
  waiting: { state: "waiting" },
  "given-back": { state: "given-back" },
  armed: { state: "armed", ...ATTEMPTS },
  resting: {
    ...{ state: "armed", failures: 2, unmet: 0, triedMs: NOW_MS - 5_000, endedMs: NOW_MS - 2_000 },
    holding: { sinceMs: NOW_MS - 60_000, samples: 3 },
  },
  fired: { state: "fired", slotMs: NOW_MS - 1_000, triedMs: NOW_MS - 1_000, ...ATTEMPTS },
  cooling: { state: "cooling", untilMs: NOW_MS + 60_000 },
  cooled: { state: "cooling", untilMs: NOW_MS - 60_000 },
  done: { state: "done", atMs: NOW_MS - 60_000 },
  cancelled: { state: "cancelled" },
};

const SAMPLES = ["away", "there", "there, too little", "no price"];
const ENDS = {
  "filled, with `rearm`": { filled: true },
  "filled, for the last time": { filled: true, once: true },
  "nothing signed": { reason: "node_unavailable" },
  "dry run": { reason: "dry_run" },
  "floor not met": { reason: "PRICE_LIMIT_NOT_MET" },
  "signed in vain": { reason: "reverted", signed: true },
  "signed in vain, the last of `attempts`": { reason: "reverted", signed: true, last: true },
} as const;

interface Row {
  readonly states: readonly string[];
  readonly events: readonly string[];
  readonly kinds: readonly string[];
  readonly after: string;
  readonly action: string;
}

/** The table of the page, with the list of states split. */
function rowsOfPage(): readonly Row[] {
  const lines = readFileSync(PAGE, "utf8").split("\n");
  const from = lines.findIndex((line) => line.startsWith("| State | What happens |"));
  const end = lines.findIndex((line, index) => index > from && !line.startsWith("|"));
  return lines.slice(from + 2, end).map((line) => {
    const [states = "", events = "", kinds = "", after = "", action = ""] = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    return {
      states: states.split(", "),
      events: events.split("; "),
      kinds: kinds === "all" ? Object.keys(LEGS) : kinds.split(", "),
      after,
      action,
    };
  });
}

function memoryOf(kind: string, at: LegState): ThresholdMemory {
  const trail = kind === "trail" ? { trail: { mark: String(usdc(3_000)), stop: String(usdc(2_400)) } } : {};
  return { version: 2, seenMs: NOW_MS - 30_000, legs: { main: { at, fills: 0, ...trail } }, sold: "0" };
}

function nameOf(memory: unknown): string {
  const { at } = (memory as ThresholdMemory).legs.main as LegMemory;
  if (at.state === "cooling") return at.untilMs > NOW_MS ? "cooling" : "cooled";
  return at.state === "armed" && at.failures > 0 ? "resting" : at.state;
}

type Seen = { readonly after: string; readonly action: SkipReason | "fires" | "" };

function sample(kind: string, at: LegState, event: string): Seen {
  const dollars = event === "away" ? "2700" : "2300";
  const prices = [...(event === "no price" ? [] : [[WETH, dollars] as const]), [USDC, "1"] as const];
  const free = event === "there, too little" ? 0n : of(WETH, 8);
  const seen = view({ nowMs: NOW_MS, slotMs: NOW_MS, free: [[WETH, free]], prices });
  const { memory, outcome } = decideStrategy(spec([LEGS[kind] as ThresholdLeg]), seen, memoryOf(kind, at));
  return { after: nameOf(memory), action: outcome.kind === "swap" ? "fires" : outcome.reason };
}

function end(kind: string, at: LegState, event: keyof typeof ENDS): Seen | undefined {
  const {
    filled = false,
    once = false,
    reason,
    signed = false,
    last = false,
  } = { ...ENDS[event] } as {
    filled?: boolean;
    once?: boolean;
    reason?: string;
    signed?: boolean;
    last?: boolean;
  };
  if (filled && !once && kind === "trail") return undefined;
  const one = { ...(LEGS[kind] as ThresholdLeg), ...(once ? { rearm: undefined } : {}), floor: { price: usdc(2_000) } };
  const raw = filled ? 1n : 0n;
  const swap = { position: 0, sell: WETH, buy: USDC, sold: raw, bought: raw, reason, signed };
  const run = { slotMs: NOW_MS, nowMs: NOW_MS, filled, swaps: [swap] };
  const fired = at.state === "fired" && last ? { ...at, signed: 2 } : at;
  const { memory } = strategyRunEnded(spec([one]), memoryOf(kind, fired), run);
  return { after: nameOf(memory), action: "" };
}

const rows = rowsOfPage();

test("the page has a row for each state, each event and each kind of trigger, and the code does what it says", () => {
  const used = new Set<Row>();
  const wrong: string[] = [];
  const hold = (at: { state: string; event: string; kind: string }, seen: Seen): void => {
    const fitting = rows.filter(
      ({ states, events, kinds }) => states.includes(at.state) && events.includes(at.event) && kinds.includes(at.kind),
    );
    const [row] = fitting;
    const said = row === undefined ? "no row" : [row.after === "the same" ? at.state : row.after, row.action].join();
    const does = [seen.after, seen.action].join();
    if (fitting.length !== 1 || said !== does) {
      wrong.push(`${at.kind}, ${at.state}, ${at.event}: ${fitting.length} rows say ${said}, the code does ${does}`);
    }
    if (row !== undefined) used.add(row);
  };
  for (const kind of Object.keys(LEGS)) {
    for (const [state, at] of Object.entries(STATES)) {
      if (kind === "trail" && at.state === "cooling") continue;
      for (const event of SAMPLES) hold({ state, event, kind }, sample(kind, at, event));
      for (const event of Object.keys(ENDS) as (keyof typeof ENDS)[]) {
        const seen = end(kind, at, event);
        if (seen === undefined) continue;
        if (state === "fired") hold({ state, event, kind }, seen);
        else if (seen.after !== state)
          wrong.push(`${kind}, ${state}: the end of a run that it did not start changed it`);
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(rows.filter((row) => !used.has(row))).toEqual([]);
});

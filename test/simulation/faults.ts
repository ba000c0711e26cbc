import type { SwapState } from "../../src/domain/run/states.ts";
import { type Chance, createChance } from "./chance.ts";

/** Every fault that may be drawn, with how often it strikes where it is switched on: the least and the most. */
const RATES = {
  "node: request lost": [0.005, 0.1],
  "node: answer lost": [0.005, 0.1],
  "node: answer late": [0.01, 0.15],
  "node: refused": [0.005, 0.1],
  "node: garbage": [0.005, 0.05],
  "node: away": [0.05, 0.4],
  "node: lags": [0.1, 0.6],
  "node: no receipts": [0.1, 0.5],
  "node: hides logs": [0.1, 0.5],
  "node: swallows": [0.1, 0.5],
  "private: request lost": [0.005, 0.2],
  "private: answer lost": [0.005, 0.2],
  "private: answer late": [0.01, 0.15],
  "private: refused": [0.005, 0.2],
  "private: garbage": [0.005, 0.05],
  "private: away": [0.05, 0.7],
  "private: keeps": [0.1, 0.7],
  "private: drops": [0.01, 0.3],
  "private: no reverts": [0.1, 0.9],
  "private: leaks": [0.05, 0.4],
  "service: request lost": [0.01, 0.15],
  "service: answer lost": [0.01, 0.15],
  "service: answer late": [0.01, 0.2],
  "service: doubled": [0.02, 0.3],
  "service: refused": [0.01, 0.15],
  "service: garbage": [0.005, 0.05],
  "service: 429": [0.01, 0.2],
  "service: 429, then silent": [0.05, 0.4],
  "service: long wait": [0.1, 0.5],
  "service: none left": [0.02, 0.2],
  "service: away": [0.05, 0.4],
  "service: lies": [0.05, 0.4],
  "signer: away": [0.05, 0.5],
  "signer: no answer": [0.02, 0.4],
  "signer: late": [0.05, 0.6],
  "alerts: request lost": [0.05, 0.3],
  "alerts: answer lost": [0.05, 0.3],
  "alerts: refused": [0.05, 0.4],
  "alerts: away": [0.1, 0.6],
  "relayer: late": [0.1, 0.7],
  "relayer: keeps": [0.05, 0.5],
  "relayer: permit alone": [0.1, 0.5],
  "relayer: doubled": [0.05, 0.5],
  "kill: at a label": [0.0005, 0.02],
  "kill: at some labels": [0.02, 0.3],
  "kill: where aimed": [0.2, 1],
  "kill: in a state": [0.1, 1],
  "kill: in a cancellation": [0.1, 0.6],
  "kill: anywhere": [0.02, 0.3],
  "clock: jumps": [0.05, 0.4],
  "chain: reorg": [0.01, 0.15],
  "chain: forgets": [0.1, 0.9],
  "chain: full blocks": [0.05, 0.4],
  "chain: fees rise": [0.05, 0.3],
  "disk: full": [0.05, 0.3],
  "disk: old copy": [0.05, 0.2],
  "disk: lost": [0.05, 0.2],
  "disk: odd pace": [0.1, 0.6],
  "files: edited": [0.1, 0.6],
  "operator: halts": [0.1, 0.6],
  "operator: shows": [0.1, 0.6],
  "operator: dry": [0.1, 0.6],
  "operator: cancels": [0.02, 0.3],
  "machine: off": [0.05, 0.4],
  "files: put aside": [0.05, 0.4],
  "wallet: deposits": [0.01, 0.3],
} as const satisfies Record<string, readonly [number, number]>;

export type FaultName = keyof typeof RATES;

export const FAULT_NAMES = Object.keys(RATES) as readonly FaultName[];

const IN_A_CANCELLATION: FaultName = "kill: in a cancellation";
/** They strike wherever something happens, and need no aim. */
const NEVER_AIMED: ReadonlySet<FaultName> = new Set(["files: put aside", "wallet: deposits", "files: edited"]);
/** What a seed can begin on purpose while a swap is in a state; the other kills have an aim of their own. */
const CAN_BE_AIMED: readonly FaultName[] = FAULT_NAMES.filter(
  (name) => (name === IN_A_CANCELLATION || !name.startsWith("kill: ")) && !NEVER_AIMED.has(name),
);
/** They strike at a single moment of a few swaps: nine times as many seeds aim with each. */
const RAREST: ReadonlySet<FaultName> = new Set([
  ...([IN_A_CANCELLATION, "signer: away", "service: long wait"] as const),
  ...(["relayer: permit alone", "relayer: doubled", "relayer: keeps", "relayer: late"] as const),
  ...(["private: request lost", "private: answer late", "private: garbage", "private: refused"] as const),
  ...(["private: answer lost", "private: leaks"] as const),
]);
/** They strike at what few swaps do, or at what they seldom do: three times as many seeds aim with each. */
const isRare = (name: FaultName): boolean =>
  /^(private|relayer|signer): /.test(name) || ["service: away", "service: garbage"].includes(name) || RAREST.has(name);
/** In these states they strike too seldom all the same: so many seeds more aim at each pair. */
const RAREST_PAIRS: readonly (readonly [FaultName, SwapState, number])[] = [
  [IN_A_CANCELLATION, "mined", 14],
  ["signer: away", "signed", 3],
  ["signer: away", "mined", 1],
  ["relayer: keeps", "cleared", 1],
  ["relayer: keeps", "mined", 3],
  ["relayer: doubled", "cleared", 2],
  ["relayer: doubled", "mined", 1],
  ["relayer: permit alone", "mined", 1],
  ["private: leaks", "cleared", 2],
  ["private: leaks", "mined", 3],
  ["private: answer late", "mined", 2],
  ["private: request lost", "mined", 3],
  ["private: no reverts", "mined", 1],
  ["private: refused", "cleared", 2],
  ["private: garbage", "cleared", 2],
  ["private: garbage", "mined", 2],
  ["private: garbage", "unknown", 2],
];
interface FaultAimed {
  readonly name: FaultName;
  /** any state in its turn, where none is named */
  readonly state?: SwapState;
}
const AIMED: readonly FaultAimed[] = [
  ...CAN_BE_AIMED.flatMap((name) =>
    Array.from({ length: RAREST.has(name) ? 9 : isRare(name) ? 3 : 1 }, () => ({ name })),
  ),
  ...RAREST_PAIRS.flatMap(([name, state, seeds]) => Array.from({ length: seeds }, () => ({ name, state }))),
];
/** What a seed aims at has to come up: orders are cancelled, and private ones wait and are sent again while others trade. */
const HELPERS: readonly (readonly [string, FaultName])[] = [
  [IN_A_CANCELLATION, "operator: cancels"],
  ["private: ", "private: keeps"],
];
const HELPS = 0.3;
/** so often a seed strikes with the fault that it aims with, or begins it */
const MOST_AIMED = 6;
const AIMED_LASTS_MS = 3_000;

const SWITCHED_ON = 0.3;
const WINDOW_MS = 60_000;
const NOTED_EVERY_MS = 3_000;

/** What goes wrong in one simulated world. Each draw depends on the seed, its name, its label and how often it came. */
export interface Faults {
  /** the faults that this seed switches on */
  readonly on: readonly FaultName[];
  readonly chance: Chance;
  /** Whether it strikes at this passing of the label. */
  strikes(name: FaultName, label: string): boolean;
  /** Whether a trouble that lasts a while is there at this instant. */
  lasts(name: FaultName, target: string, atMs: number): boolean;
  /** the fault that this seed aims with, if it may */
  readonly aimed: FaultName | undefined;
  /** the state of a swap in which it strikes, where that is not the seed's turn */
  readonly aimedState: SwapState | undefined;
  /** it strikes at what few swaps do: the more are open, the likelier one of them is in the state aimed at */
  readonly aimsAtRare: boolean;
  /** the seed's turn with the fault that it aims with: seeds one after the other aim with one fault each, and then begin anew */
  readonly aimTurn: number;
  /** Whether its time is now; called when the fault that this seed aims with may strike. Then it does, or begins. */
  aimWhen(isNow: () => boolean): void;
  /** From now on nothing goes wrong. */
  end(): void;
  readonly isOver: boolean;
  /** Calls back whenever a fault strikes. */
  watch(onStrike: (name: FaultName) => void): void;
  /** how often each fault struck, by name and label */
  readonly struck: ReadonlyMap<string, number>;
}

export function createFaults(seed: number, without: readonly string[] = [], only?: readonly string[]): Faults {
  const chance = createChance(seed);
  const isOn = (name: FaultName): boolean =>
    (only === undefined ? chance.of("switch", name) < SWITCHED_ON : only.includes(name)) && !without.includes(name);
  const rates = new Map<FaultName, number>();
  for (const name of FAULT_NAMES.filter(isOn)) {
    const [least, most] = RATES[name];
    rates.set(name, least + (most - least) * chance.of("rate", name));
  }
  const { name: aimed, state: aimedState } = AIMED[seed % AIMED.length] ?? {};
  const isAllowed = (name: FaultName): boolean => (only?.includes(name) ?? true) && !without.includes(name);
  const mayAim = aimed !== undefined && isAllowed(aimed);
  // Where it is not drawn as well, nothing but the aim strikes.
  if (mayAim && !rates.has(aimed)) rates.set(aimed, 0);
  const helper = mayAim ? HELPERS.find(([of]) => aimed.startsWith(of))?.[1] : undefined;
  if (helper !== undefined && isAllowed(helper)) rates.set(helper, HELPS);
  let begun = 0;
  let isItsTime = (): boolean => false;
  let untilMs = Number.NEGATIVE_INFINITY;
  const isAimed = (name: FaultName): boolean => mayAim && name === aimed;
  const beginsAimed = (name: FaultName): boolean => {
    if (!isAimed(name) || begun === MOST_AIMED || !isItsTime()) return false;
    begun += 1;
    return true;
  };
  const passings = new Map<string, number>();
  const struck = new Map<string, number>();
  let isOver = false;
  let hear = (_name: FaultName): void => undefined;
  const noted = new Map<string, number>();
  const note = (name: FaultName, label: string): void => {
    const key = `${name} | ${label}`;
    struck.set(key, (struck.get(key) ?? 0) + 1);
    hear(name);
  };
  /** What lasts is met by anyone who asks: it counts once in a while. */
  const noteWhile = (name: FaultName, target: string, atMs: number): void => {
    const before = noted.get(`${name}|${target}`);
    if (before !== undefined && atMs - before < NOTED_EVERY_MS) return;
    noted.set(`${name}|${target}`, atMs);
    note(name, target);
  };
  return {
    on: [...rates.keys()],
    chance,
    struck,
    aimed: mayAim ? aimed : undefined,
    aimedState,
    aimsAtRare: mayAim && isRare(aimed),
    aimTurn: Math.floor(seed / AIMED.length),
    strikes: (name, label) => {
      const rate = rates.get(name);
      if (rate === undefined || isOver) return false;
      const key = `${name}|${label}`;
      const passing = (passings.get(key) ?? 0) + 1;
      passings.set(key, passing);
      const strikes = beginsAimed(name) || chance.of(name, label, passing) < rate;
      if (strikes) note(name, label);
      return strikes;
    },
    lasts: (name, target, atMs) => {
      const rate = rates.get(name);
      if (rate === undefined || isOver) return false;
      if (atMs >= untilMs && beginsAimed(name)) untilMs = atMs + AIMED_LASTS_MS;
      if (isAimed(name) && atMs < untilMs) {
        noteWhile(name, target, atMs);
        return true;
      }
      const window = Math.floor(atMs / WINDOW_MS);
      if (chance.of(name, target, window) >= rate) return false;
      const lasts = atMs % WINDOW_MS < WINDOW_MS * chance.of(name, target, window, "length");
      if (lasts) noteWhile(name, target, atMs);
      return lasts;
    },
    aimWhen: (isNow) => {
      isItsTime = isNow;
    },
    end: () => {
      isOver = true;
    },
    get isOver() {
      return isOver;
    },
    watch: (onStrike) => {
      hear = onStrike;
    },
  };
}

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
  "machine: off": [0.05, 0.4],
  "files: put aside": [0.05, 0.4],
  "wallet: deposits": [0.01, 0.3],
} as const satisfies Record<string, readonly [number, number]>;

export type FaultName = keyof typeof RATES;

export const FAULT_NAMES = Object.keys(RATES) as readonly FaultName[];

/** No seed aims with these: which one a seed aims with goes by the number of those that may be. */
const NEVER_AIMED: ReadonlySet<FaultName> = new Set(["files: put aside", "wallet: deposits"]);
/** What a seed can begin on purpose while a swap is in a state; kills have an aim of their own. */
const AIMED: readonly FaultName[] = FAULT_NAMES.filter((name) => !name.startsWith("kill: ") && !NEVER_AIMED.has(name));
/** so often a seed begins the fault that it aims with */
const MOST_AIMED = 4;
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
  /** the seed's turn with the fault that it aims with: seeds one after the other aim with one fault each, and then begin anew */
  readonly aimTurn: number;
  /** Begins the fault that this seed aims with, now: it strikes at its next passing, and lasts for seconds. */
  begin(atMs: number): void;
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
  const aimed = AIMED[seed % AIMED.length];
  const mayAim = aimed !== undefined && (only?.includes(aimed) ?? true) && !without.includes(aimed);
  // Where it is not drawn as well, nothing but the aim strikes.
  if (mayAim && !rates.has(aimed)) rates.set(aimed, 0);
  let begun = 0;
  let pending = 0;
  let untilMs = Number.NEGATIVE_INFINITY;
  const isAimed = (name: FaultName): boolean => mayAim && name === aimed;
  const strikesAimed = (name: FaultName): boolean => {
    if (pending === 0 || !isAimed(name)) return false;
    pending -= 1;
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
    aimTurn: Math.floor(seed / AIMED.length),
    strikes: (name, label) => {
      const rate = rates.get(name);
      if (rate === undefined || isOver) return false;
      const key = `${name}|${label}`;
      const passing = (passings.get(key) ?? 0) + 1;
      passings.set(key, passing);
      const strikes = strikesAimed(name) || chance.of(name, label, passing) < rate;
      if (strikes) note(name, label);
      return strikes;
    },
    lasts: (name, target, atMs) => {
      const rate = rates.get(name);
      if (rate === undefined || isOver) return false;
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
    begin: (atMs) => {
      if (!mayAim || begun === MOST_AIMED) return;
      begun += 1;
      pending = 1;
      untilMs = atMs + AIMED_LASTS_MS;
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

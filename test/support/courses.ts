import { swapdProfile } from "../../src/adapters/swap-service/swapd/service.ts";
import type { ServiceProfile } from "../../src/ports/swap-service.ts";
import { CRASH_LABELS } from "../e2e/kill/crash-labels.ts";
import { GWEI, WETH } from "./builders.ts";
import type { Life, Outside } from "./engine-life.ts";
import { refusal } from "./fake-service.ts";

/** Hears of every place that any life in a world passes, before a kill there; what it changes outlives the process. */
export type Hear = (label: string, life: Life) => void;

/** A way that a swap takes, and what happens outside meanwhile. */
export interface Course {
  /** short, because a name of a test is cut off */
  readonly name: string;
  readonly gasless: "only" | "never";
  /** the places for whose sake it is taken, */
  readonly labels: readonly string[];
  /** from the first passing of this one on, or from the start */
  readonly from?: string;
  /** Lays the course on a fresh world. */
  begin(outside: Outside): Hear;
}

/** As of a hosted service: nothing in the signature tells a fill from another, and a second submission is a second swap. */
const WITHOUT_NONCE: ServiceProfile = {
  ...swapdProfile,
  ...{ idempotentExecuteSwap: false, signatureHasNonce: false, nonceRecord: undefined },
};

const both = (name: string): readonly string[] => [`${name}.before`, `${name}.after`];
const HANDED_OVER = [...both("effect.SubmitGasless"), ...both("gasless.submit"), ...both("commit.submission-unknown")];
const WATCHED = [...both("effect.ReadChain"), ...both("commit.observed")];
/** From the block of a transaction to its end. */
const SETTLED = [...both("lane.mined"), "lane.confirmed.after", ...both("lane.final")];

/** Trouble while an effect of the kind is performed, until it was answered once. */
function whilePerforming(kind: string, trouble: { begin(): void; end(): void }): Hear {
  let isOver = false;
  return (label) => {
    if (isOver) return;
    if (label === `effect.${kind}.before`) trouble.begin();
    if (label !== `effect.${kind}.after`) return;
    trouble.end();
    isOver = true;
  };
}

function silence(outside: Outside): { begin(): void; end(): void } {
  const set = (isDown: boolean) => (): void => {
    outside.chain.isDown = isDown;
  };
  return { begin: set(true), end: set(false) };
}

function allOf(...hearing: readonly Hear[]): Hear {
  return (label, life) => {
    for (const hear of hearing) hear(label, life);
  };
}

/** The trouble with the submission is over once it was written down. */
function untilUnknown(outside: Outside): Hear {
  return (label) => {
    if (label === "commit.submission-unknown.after") outside.service.delivery = "taken";
  };
}

function isSwap({ db }: Life): boolean {
  const newest = "SELECT purpose FROM lane_intents WHERE nonce IS NOT NULL ORDER BY seq DESC LIMIT 1";
  return db.prepare<[], string>(newest).pluck().get() === "swap";
}

/** From the first swap that is sent, blocks cost more than it pays. */
function whenSent(outside: Outside, baseFee: bigint): Hear {
  let isOver = false;
  return (label, life) => {
    if (isOver || label !== "lane.broadcast.before" || !isSwap(life)) return;
    outside.chain.baseFee = baseFee;
    isOver = true;
  };
}

/** Above what the first version pays (2.1 gwei), below the ceiling of 5 gwei; and above the ceiling. */
const DEARER = (22n * GWEI) / 10n;
const TOO_DEAR = 6n * GWEI;

/** Together they pass every place at which an engine can be killed. */
export const COURSES: readonly Course[] = [
  {
    name: "sent and mined",
    gasless: "never",
    labels: Object.values(CRASH_LABELS).flat(),
    begin: () => () => undefined,
  },
  {
    name: "submitted and filled",
    gasless: "only",
    labels: [...CRASH_LABELS.gasless, ...CRASH_LABELS.fill],
    begin: (outside) => {
      outside.chain.permitTokens.add(WETH.address);
      return () => undefined;
    },
  },
  {
    name: "filled late after a lost answer",
    gasless: "only",
    labels: [...both("commit.submission-unknown"), ...both("commit.observation-unavailable"), ...WATCHED],
    begin: (outside) => {
      outside.chain.permitTokens.add(WETH.address);
      outside.service.delivery = "answer lost";
      outside.chain.holdsRelayed = true;
      let checks = 0;
      return allOf(untilUnknown(outside), whilePerforming("ReadChain", silence(outside)), (label) => {
        if (label === "commit.observed.after") checks += 1;
        if (checks > 5) outside.chain.holdsRelayed = false;
      });
    },
  },
  {
    name: "lost on its way, and expired",
    gasless: "only",
    labels: [...HANDED_OVER, ...WATCHED],
    begin: (outside) => {
      outside.chain.permitTokens.add(WETH.address);
      outside.service.delivery = "lost";
      return untilUnknown(outside);
    },
  },
  {
    name: "lost without a nonce, and expired",
    gasless: "only",
    labels: [...HANDED_OVER, ...WATCHED],
    begin: (outside) => {
      const { chain, service, clock } = outside;
      chain.permitTokens.add(WETH.address);
      service.profile = WITHOUT_NONCE;
      service.delivery = "lost";
      // Longer than deadline and finality: only the word of the service holds the end back.
      const untilMs = clock.nowMs() + 40_000;
      service.swapRecord = async () => ({
        ...{ status: clock.nowMs() < untilMs ? "pending" : "failed", hash: undefined, raw: {} },
      });
      return untilUnknown(outside);
    },
  },
  {
    name: "halted before its signature",
    gasless: "only",
    labels: [...both("effect.SignGasless"), ...both("commit.signing-barred")],
    begin: (outside) => {
      outside.chain.permitTokens.add(WETH.address);
      const set = (life: Life, mode: "halted" | "active"): void =>
        life.store.setMode({ scope: outside.spec.id, mode, setBy: "ops", reason: "a check", atMs: 1 });
      let isOver = false;
      return (label, life) => {
        if (isOver) return;
        if (label === "effect.SignGasless.before") set(life, "halted");
        if (label !== "commit.signing-barred.after") return;
        set(life, "active");
        isOver = true;
      };
    },
  },
  {
    name: "in trouble before its signature",
    gasless: "never",
    labels: CRASH_LABELS.trouble,
    begin: (outside) => {
      const busy = {
        begin: () => {
          outside.service.refuses = refusal("BUSY", true);
        },
        end: () => {
          outside.service.refuses = undefined;
        },
      };
      const troubles = { ReadView: silence(outside), FetchQuote: busy, ReadFacts: silence(outside) };
      return allOf(...Object.entries(troubles).map(([kind, trouble]) => whilePerforming(kind, trouble)));
    },
  },
  {
    name: "sent too cheaply, and replaced",
    gasless: "never",
    labels: [...CRASH_LABELS.replacement, ...SETTLED],
    from: "lane.bump.reserve.after",
    begin: (outside) => whenSent(outside, DEARER),
  },
  {
    name: "replaced, and still cancelled",
    gasless: "never",
    labels: [...CRASH_LABELS.cancellation, ...SETTLED],
    from: "lane.cancel.reserve.after",
    begin: (outside) => {
      const { chain } = outside;
      return allOf(whenSent(outside, DEARER), (label) => {
        if (label === "lane.bump.broadcast.before" && chain.baseFee === DEARER) chain.baseFee = TOO_DEAR;
        if (label === "lane.final.after" && chain.baseFee === TOO_DEAR) chain.baseFee = GWEI;
      });
    },
  },
];

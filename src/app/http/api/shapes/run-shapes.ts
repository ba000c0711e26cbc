import { z } from "zod";
import { pageOf, shape } from "./shape.ts";
import { address, basisPoints, dollars, instant, money, token, whole } from "./values.ts";

export const transition = shape("Transition", "A move of a run or of one of its swaps.", {
  subject: z.enum(["run", "swap"]),
  id: z.string().meta({ description: "of the run or of the swap" }),
  from: z.string().nullable(),
  to: z.string(),
  reason: z.string().nullable(),
  detail: z.string().nullable(),
  at: instant,
});

export const check = shape("Check", "A comparison that was made before a swap was signed.", {
  code: z.string().meta({ description: "what the swap is denied as when it fails" }),
  passed: z.boolean(),
  value: z.string().meta({ description: "what was found, in people's units" }),
  limit: z.string().meta({ description: "what is allowed, in people's units" }),
  at: instant,
});

export const retry = shape("Retry", "Why a run asked again: so often in a row for one reason.", {
  swap: z.string().nullable(),
  reason: z.string(),
  detail: z.string(),
  count: z.int(),
  firstAt: instant,
  lastAt: instant,
  nextAt: instant,
});

export const swapTransaction = shape("SwapTransaction", "A transaction of ours for a swap, and what it cost.", {
  hash: z.string(),
  purpose: z.string().meta({ description: "swap, approval, revocation and others" }),
  kind: z.string().meta({ description: "original, replacement or cancel" }),
  visibility: z.string(),
  succeeded: z.boolean(),
  block: z.int(),
  at: instant,
  gasUsed: whole,
  cost: money.meta({ description: "of the network's own coin, what a rollup charges included" }),
  costUsd: dollars.nullable(),
});

const fee = shape("Fee", "A fee of a swap, part of what was sold.", {
  to: z.enum(["service", "affiliate"]),
  amount: money,
  usd: dollars.nullable(),
});

export const swap = shape("Swap", "A swap of a run. Amounts are null until they are known.", {
  id: z.string(),
  run: z.string(),
  strategy: z.string(),
  state: z.string(),
  reason: z.string().nullable(),
  mode: z.enum(["self-executed", "gasless"]).nullable(),
  wallet: address,
  recipient: address,
  sell: token,
  buy: token,
  asked: money.nullable().meta({ description: "what it is to sell, fees included" }),
  quoted: money.nullable().meta({ description: "what its quote promised" }),
  minimum: money.nullable().meta({ description: "the least that is accepted" }),
  sold: money.nullable(),
  bought: money.nullable(),
  price: z.string().nullable().meta({ description: "sold token's unit for one bought one, decimal text" }),
  soldUsd: dollars.nullable().meta({ description: "at the reference prices that it was cleared by" }),
  boughtUsd: dollars.nullable(),
  againstQuote: basisPoints.nullable(),
  againstReference: basisPoints.nullable(),
  fees: z.array(fee),
  gas: money.nullable().meta({ description: "of all its transactions" }),
  gasUsd: dollars.nullable(),
  hash: z.string().nullable(),
  block: z.int().nullable(),
  at: instant.nullable().meta({ description: "of its block" }),
  quoteId: z.string().nullable(),
});

export const run = shape("Run", "What became of one slot of a strategy.", {
  id: z.string(),
  strategy: z.string(),
  slot: instant,
  state: z.string(),
  reason: z.string().nullable(),
  detail: z.string().nullable(),
  endedAt: instant.nullable(),
  swaps: z.array(swap),
});

export const swapDetails = shape("SwapDetails", "What is kept of a swap besides its figures.", {
  id: z.string(),
  checks: z.array(check),
  transactions: z.array(swapTransaction),
  route: z.unknown().meta({ description: "as the service described it, or null; foreign text" }),
});

export const runDetails = shape("RunDetails", "A run with all that is kept of it.", {
  run,
  transitions: z.array(transition),
  retries: z.array(retry),
  swaps: z.array(swapDetails),
});

export const runPage = pageOf("RunPage", "Runs, newest slot first.", run);

export const gap = shape("Gap", "Slots one after the other of which no run is kept.", {
  strategy: z.string(),
  first: instant,
  last: instant,
  count: z.int(),
  reason: z.string(),
  state: z.string().nullable().meta({ description: "how their runs ended; null: they got no run" }),
});

export const why = shape("Why", "What a strategy did at its slot nearest before an instant.", {
  strategy: z.string(),
  at: instant,
  run: runDetails.nullable(),
  gap: gap.nullable().meta({ description: "instead of a run" }),
  standing: z
    .array(shape("StandingReason", "What is true now and concerns it.", { code: z.string(), text: z.string() }))
    .meta({ description: "open alerts that concern the strategy" }),
});

export const plannedSwap = shape("PlannedSwap", "A swap that would be made.", {
  sell: token,
  buy: token,
  amount: money.nullable(),
  expected: money.nullable(),
  mode: z.enum(["self-executed", "gasless"]).nullable(),
  state: z.string(),
  reason: z.string().nullable(),
  checks: z.array(check.omit({ at: true })),
});

export const whyNext = shape("WhyNext", "What a strategy would do at its next slot, if that were now.", {
  strategy: z.string(),
  slot: instant.nullable().meta({ description: "null: its schedule has no further slot" }),
  verdict: z.string().nullable(),
  state: z.string().nullable(),
  reason: z.string().nullable(),
  detail: z.string().nullable(),
  swaps: z.array(plannedSwap),
});

export const fill = shape("Fill", "A fill, for charts: what was exchanged at which price.", {
  swap: z.string(),
  run: z.string(),
  strategy: z.string(),
  at: instant,
  sold: money,
  bought: money,
  soldUsd: dollars.nullable().meta({ description: "at the reference prices that it was cleared by" }),
  boughtUsd: dollars.nullable(),
  soldPriceUsd: dollars.nullable().meta({ description: "reference price of one sold token" }),
  boughtPriceUsd: dollars.nullable(),
  againstQuote: basisPoints.nullable(),
  againstReference: basisPoints.nullable(),
});

export const fillPage = pageOf("FillPage", "Fills, from the newest block down.", fill);

export const transitionEvent = shape("TransitionEvent", "A move with what it belongs to. Its id resumes the events.", {
  ...transition.shape,
  run: z.string(),
  strategy: z.string().nullable(),
});

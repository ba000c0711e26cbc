import { z } from "zod";
import { gap } from "./run-shapes.ts";
import { shape } from "./shape.ts";
import { address, counts, decimal, dollars, instant, token } from "./values.ts";

const MODES = ["dry-run", "paper", "live"] as const;
export const OPERATING = ["active", "paused", "exits-only", "halted"] as const;
export const SCOPES = ["read", "operate"] as const;

const walletKind = z.enum(["key", "paper", "safe", "watched"]);

export const info = shape("Info", "What this daemon is.", {
  name: z.literal("swapd"),
  version: z.string(),
  apiVersion: z.literal("1").meta({ description: "a page or client for another one must not go on" }),
  mode: z.enum(MODES),
  network: shape("NetworkInfo", "The network.", {
    name: z.string(),
    chainId: z.int(),
    nativeSymbol: z.string(),
    confirmations: z.int(),
    explorer: z
      .string()
      .nullable()
      .meta({ description: "begin of links: followed by `tx/<hash>` or `address/<address>`; null: none is known" }),
  }),
  strategies: z.array(shape("StrategyName", "A strategy.", { id: z.string(), kind: z.string(), wallet: z.string() })),
  wallets: z.array(shape("WalletName", "A wallet.", { name: z.string(), address, kind: walletKind })),
  tokens: z.array(token),
});

const part = shape("ReadyPart", "Whether a part of what trading needs is there.", {
  ready: z.boolean(),
  reason: z.string().nullable(),
  since: instant.nullable(),
});

const cap = shape("Cap", "Dollars sold and reserved, and the ceiling.", {
  soldUsd: dollars,
  limitUsd: dollars.nullable().meta({ description: "null: no ceiling" }),
  leftUsd: dollars.nullable(),
});

export const budget = shape("Budget", "One bound of a strategy's budget.", {
  period: z.string().meta({ description: "total, day, week, month and so on" }),
  token: z.string().meta({ description: "symbol of the token that it is counted in, or USD" }),
  limit: decimal,
  sold: decimal.meta({ description: "sold and reserved" }),
  left: decimal,
  renews: instant.nullable().meta({ description: "null of the total" }),
});

export const openAlert = shape("OpenAlert", "What is true now and somebody should know.", {
  severity: z.enum(["info", "warning", "critical"]),
  code: z.string(),
  subject: z.string(),
  text: z.string(),
  strategy: z.string().nullable(),
  at: instant,
});

export const modeRow = shape("ModeSet", "A mode that is not active.", {
  scope: z.string().meta({ description: "global, or a strategy" }),
  mode: z.enum(OPERATING),
  by: z.string(),
  reason: z.string(),
  at: instant,
});

export const waiting = shape(
  "WaitingRun",
  "A run that waits for a person, or goes on by itself when nobody refuses it.",
  {
    run: z.string(),
    swap: z.string(),
    strategy: z.string(),
    kind: z.enum(["approval", "announcement"]),
    text: z.string().nullable().meta({ description: "what people are told of it: what is sold for what" }),
    since: instant,
    until: instant,
  },
);

export const strategyStatus = shape("StrategyStatus", "Where a strategy stands.", {
  id: z.string(),
  kind: z.string(),
  mode: z.enum(OPERATING),
  inForce: z.boolean().meta({ description: "false: no file names it now, and only its rows are left" }),
  lastSlot: instant.nullable(),
  nextSlot: instant.nullable(),
  runs: counts,
  sold: z.array(shape("Sold", "Sold and reserved over its life.", { token: z.string(), amount: decimal })),
  budgets: z.array(budget),
});

export const status = shape("Status", "How the daemon is.", {
  at: instant,
  mode: z.enum(MODES),
  operating: z.enum(OPERATING),
  healthy: z.boolean(),
  problems: z.array(z.string()).meta({ description: "why it is not healthy" }),
  ready: z.boolean(),
  parts: z.strictObject({ node: part, service: part, clock: part, database: part, signer: part }),
  clockSkewMs: z.number().nullable(),
  sending: z.enum(["public", "named", "book"]),
  strategies: z.array(strategyStatus),
  swaps: counts,
  caps: z.strictObject({ day: cap, month: cap }),
  modes: z.array(modeRow),
  halts: z.array(
    shape("Halt", "An account that signs nothing until everything is resumed.", {
      account: address,
      reason: z.string(),
      at: instant,
    }),
  ),
  waiting: z.array(waiting),
  alerts: z.array(openAlert),
  channels: z.array(
    shape("Channel", "A channel of alerts.", {
      name: z.string(),
      isBehind: z.boolean(),
      waiting: z.int(),
      since: instant.nullable(),
      outcome: z.string().nullable(),
    }),
  ),
  gaps: z.array(gap).meta({ description: "slots without a run, newest first, at most a hundred" }),
  lastClockJump: z.strictObject({ text: z.string(), at: instant }).nullable(),
});

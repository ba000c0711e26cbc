import { z } from "zod";
import { action, actionPage, actionResult, login, session } from "./shapes/action-shapes.ts";
import {
  alertPage,
  allowanceList,
  audit,
  proposalList,
  services,
  transactionList,
  walletList,
} from "./shapes/outside-shapes.ts";
import { fillPage, runDetails, runPage, why, whyNext } from "./shapes/run-shapes.ts";
import { info, status } from "./shapes/status-shapes.ts";
import { portfolio, portfolioHistory, prices, strategy, strategyList } from "./shapes/strategy-shapes.ts";

/** What may be asked of the API: by whom, with what, and what is answered. */
interface Operation {
  readonly method: "GET" | "POST" | "DELETE";
  /** below `/api/v1`, with parameters in braces */
  readonly path: string;
  readonly summary: string;
  /** `none`: without a login, too */
  readonly scope: "none" | "read" | "operate";
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly answer: z.ZodType;
}

const limit = (most: number, usual: number) =>
  z.coerce
    .number()
    .int()
    .min(1)
    .max(most)
    .default(usual)
    .meta({ description: `at most so many, ${usual} by default` });
const cursor = z.string().max(100).optional().meta({ description: "the `next` of the page before" });
const strategyId = z.string().max(64).optional().meta({ description: "of this strategy alone" });
const since = z.iso.datetime().optional().meta({ description: "from this instant on" });
const until = z.iso.datetime().optional().meta({ description: "until this instant" });
const points = z.coerce.number().int().min(2).max(5_000).default(1_000).meta({ description: "at most so many points" });

/** All of it. The document, the routes and the clients' types follow from this table. */
export const OPERATIONS = {
  getSession: { method: "GET", path: "/session", summary: "Who asks.", scope: "none", answer: session },
  login: {
    ...{ method: "POST", path: "/session", scope: "none", body: login, answer: session },
    summary: "Logs a browser in by a one-time code of `swapd login`; sets a cookie.",
  },
  logout: { method: "DELETE", path: "/session", summary: "Ends the login.", scope: "none", answer: session },
  getInfo: { method: "GET", path: "/info", summary: "What this daemon is.", scope: "read", answer: info },
  getStatus: { method: "GET", path: "/status", summary: "How the daemon is.", scope: "read", answer: status },
  listRuns: {
    ...{ method: "GET", path: "/runs", summary: "Runs with their swaps.", scope: "read", answer: runPage },
    query: z.strictObject({ strategy: strategyId, before: cursor, limit: limit(500, 50) }),
  },
  getRun: {
    ...{ method: "GET", path: "/runs/{id}", scope: "read", answer: runDetails },
    summary: "A run with all that is kept of it, by its id or that of one of its swaps.",
  },
  listFills: {
    ...{ method: "GET", path: "/fills", summary: "Fills, for charts.", scope: "read", answer: fillPage },
    query: z.strictObject({ strategy: strategyId, since, before: cursor, limit: limit(5_000, 500) }),
  },
  listStrategies: {
    ...{ method: "GET", path: "/strategies", summary: "All strategies.", scope: "read", answer: strategyList },
  },
  getStrategy: {
    ...{ method: "GET", path: "/strategies/{id}", scope: "read", answer: strategy },
    summary: "A strategy with its settings and its file.",
  },
  getWhy: {
    ...{ method: "GET", path: "/strategies/{id}/why", scope: "read", answer: why },
    summary: "What a strategy did at a slot, and why.",
    query: z.strictObject({ at: z.iso.datetime().optional().meta({ description: "by default now" }) }),
  },
  getWhyNext: {
    ...{ method: "GET", path: "/strategies/{id}/next", scope: "read", answer: whyNext },
    summary: "What a strategy would do at its next slot if that were now. Asks service and node; one at a time.",
  },
  getPortfolio: {
    ...{ method: "GET", path: "/portfolio", summary: "What the wallets have.", scope: "read", answer: portfolio },
  },
  getPortfolioHistory: {
    ...{ method: "GET", path: "/portfolio/history", scope: "read", answer: portfolioHistory },
    summary: "Value of the wallets over time.",
    query: z.strictObject({ since, until, points }),
  },
  getPrices: {
    ...{ method: "GET", path: "/prices/{symbol}", scope: "read", answer: prices },
    summary: "Reference prices of a token over time, by its symbol.",
    query: z.strictObject({ since, until, points }),
  },
  getServices: {
    ...{ method: "GET", path: "/services", summary: "Service and endpoints.", scope: "read", answer: services },
  },
  listWallets: { method: "GET", path: "/wallets", summary: "The wallets.", scope: "read", answer: walletList },
  listAllowances: {
    ...{ method: "GET", path: "/allowances", scope: "read", answer: allowanceList },
    summary: "What contracts may take of the wallets; reads the chain, at most twice a minute.",
  },
  listTransactions: {
    ...{ method: "GET", path: "/transactions", scope: "read", answer: transactionList },
    summary: "The wallets' own transactions.",
    query: z.strictObject({ limit: limit(500, 50) }),
  },
  listAlerts: {
    ...{ method: "GET", path: "/alerts", summary: "Alerts and messages.", scope: "read", answer: alertPage },
    query: z.strictObject({
      state: z.enum(["open", "past", "all"]).default("all"),
      before: cursor,
      limit: limit(500, 50),
    }),
  },
  listProposals: {
    ...{ method: "GET", path: "/proposals", summary: "Open proposals to Safes.", scope: "read", answer: proposalList },
  },
  getAudit: { method: "GET", path: "/audit", summary: "The last recorded audit.", scope: "read", answer: audit },
  listActions: {
    ...{ method: "GET", path: "/actions", summary: "What people asked for.", scope: "read", answer: actionPage },
    query: z.strictObject({ before: cursor, limit: limit(500, 50) }),
  },
  act: {
    ...{ method: "POST", path: "/actions", scope: "operate", body: action, answer: actionResult },
    summary: "Asks the daemon for something. The header Idempotency-Key is required: a repeated key acts once.",
  },
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationId = keyof typeof OPERATIONS;
/** What an operation answers. */
export type AnswerOf<Id extends OperationId> = z.output<(typeof OPERATIONS)[Id]["answer"]>;

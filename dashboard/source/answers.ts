import type { z } from "zod";
import type { AnswerOf, OPERATIONS, OperationId } from "../../src/app/http/api/operations.ts";
import type { action } from "../../src/app/http/api/shapes/action-shapes.ts";

/** The version of the API that this page was built for; it refuses another one. */
export const API_VERSION = "1";

type Filled<Path extends string> = Path extends `${infer Before}{${string}}${infer After}`
  ? `${Before}${string}${Filled<After>}`
  : Path;

/** What may be asked for an operation: its path with its parameters filled in, and its query. */
export type PathOf<Id extends OperationId> =
  | Filled<(typeof OPERATIONS)[Id]["path"]>
  | `${Filled<(typeof OPERATIONS)[Id]["path"]>}?${string}`;

export type { AnswerOf, OperationId };

export type ActionBody = z.output<typeof action>;
export type ActionResult = AnswerOf<"act">;
export type Info = AnswerOf<"getInfo">;
export type Session = AnswerOf<"getSession">;
export type Status = AnswerOf<"getStatus">;
export type StrategyStatus = Status["strategies"][number];
export type Budget = StrategyStatus["budgets"][number];
export type Strategy = AnswerOf<"getStrategy">;
export type RunDetails = AnswerOf<"getRun">;
export type Run = RunDetails["run"];
export type Swap = Run["swaps"][number];
export type Fill = AnswerOf<"listFills">["items"][number];
export type Portfolio = AnswerOf<"getPortfolio">;
export type Mix = Portfolio["mixes"][number];
export type Wallet = AnswerOf<"listWallets">["wallets"][number];
export type Alert = AnswerOf<"listAlerts">["items"][number];
export type Money = Wallet["balances"][number];
export type Check = RunDetails["swaps"][number]["checks"][number];

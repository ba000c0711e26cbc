/** How much an alert matters, least first: `critical` may wake a person up. */
export const SEVERITIES = ["info", "warning", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

/**
 * Something that a person should know. While it is true of its subject, the same code is not raised for it again; when
 * it is over for a subject, it is over for all of its codes.
 */
export interface Alert {
  readonly severity: Severity;
  readonly code: string;
  readonly subject: string;
  readonly text: string;
}

/** How subjects are written, in one place: an alert ends only under the words that it was raised with. */
export const SUBJECT = {
  swap: (swapId: string) => `swap ${swapId}`,
  /** what the owners of a Safe are asked for */
  proposal: (swapId: string) => `proposal of ${swapId}`,
  /** whether they can see it */
  delivery: (swapId: string) => `delivery of ${swapId}`,
  run: (runId: string) => `run ${runId}`,
  /** a run that waits for a person */
  hold: (runId: string) => `wait of ${runId}`,
  /** what a swap brought, where that needs a person: true until he resumes its strategy */
  fill: (swapId: string) => `fill of ${swapId}`,
  /** what a strategy sells for what: denials are about that, and not about one swap of many */
  pair: (strategyId: string, { sell, buy }: { sell: { symbol: string }; buy: { symbol: string } }) =>
    `${sell.symbol} to ${buy.symbol} of ${strategyId}`,
  /** `global` or a strategy */
  mode: (scope: string) => `mode of ${scope}`,
  /** whether a strategy's slots find enough to sell */
  funds: (strategyId: string) => `funds of ${strategyId}`,
  /** whether a strategy's tokens have a price */
  prices: (strategyId: string) => `prices of ${strategyId}`,
  /** how a strategy's slots end */
  slots: (strategyId: string) => `slots of ${strategyId}`,
  node: () => "answers of the RPC endpoints",
  quotes: () => "answers of the swap service",
  /** the database that trades for a wallet */
  database: (wallet: string) => `database of ${wallet}`,
  /** whether the rows were checked against the chain at all */
  check: () => "check of the database",
  account: (account: string) => `account ${account}`,
  transaction: (intentId: string) => `transaction ${intentId}`,
  /** whether a signer elsewhere signs for a wallet */
  signer: (wallet: string) => `signer of ${wallet}`,
  /** whether it signs what it is asked for */
  signed: (wallet: string) => `answers of the signer of ${wallet}`,
  service: (host: string) => `service ${host}`,
  /** whether a service may be called at all */
  callsTo: (host: string) => `calls to ${host}`,
  configuration: () => "configuration",
  /** whether commands by chat are heard */
  chat: () => "commands by chat",
  /** whether there is any strategy */
  strategies: () => "strategies",
  clock: () => "clock",
  /** what the wallets are worth */
  value: () => "value of the wallets",
  endpoints: () => "RPC endpoints",
  /** whether they report the same of the chain */
  agreement: () => "agreement of the RPC endpoints",
} as const;

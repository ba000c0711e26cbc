import { statSync } from "node:fs";
import { Gauge, Registry } from "prom-client";
import { strategyLabel } from "../../adapters/metrics/prometheus-meter.ts";
import { NATIVE_TOKEN } from "../../domain/money/address.ts";
import { formatUnits } from "../../domain/money/amount.ts";
import { USD_DECIMALS } from "../../domain/money/price.ts";
import { GLOBAL_SCOPE, OPERATING_MODES } from "../../domain/run/operating-mode.ts";
import { soldWithin } from "../../domain/strategy/budget.ts";
import type { Counts, ReadModel, StandingRows, StatusRows } from "../../ports/read-model.ts";
import { budgetCurrency } from "../budget-lines.ts";
import { signedElsewhere } from "../open-signers.ts";
import { lentGasOf } from "../paper-accounts.ts";
import { budgetCounts, type StandingSettings, standingQuestion } from "../read-standing.ts";
import type { HoldingsSampler, SampledAmount } from "../sample-holdings.ts";
import { version } from "../version.ts";
import type { HealthReader } from "./health.ts";

/** What figures are read from. */
export interface MetricsSources {
  readonly reads: Pick<ReadModel, "counts" | "status">;
  readonly health: HealthReader;
  /** as it is in force: edited strategies are taken over while the daemon runs */
  settings(): StandingSettings & { readonly database: string };
  /** what the wallets have and allow */
  readonly holdings: Pick<HoldingsSampler, "latest">;
  /** what is counted since the process began */
  readonly counted: Registry;
  nowMs(): number;
}

/** Figures as Prometheus reads them. */
export interface MetricsReader {
  readonly contentType: string;
  read(): Promise<string>;
}

const NATIVE_DECIMALS = 18;
const MODES = ["dry-run", "paper", "live"] as const;

/** Makes the reader: what is counted, and what the rows and the health say at each reading. */
export function createMetricsReader(sources: MetricsSources): MetricsReader {
  const { reads, health, holdings, counted, nowMs } = sources;
  const { network } = sources.settings();
  const about = { version: version(), network: network.name, chain_id: String(network.chainId) };
  return {
    contentType: counted.contentType,
    read: async () => {
      const [settings, atMs] = [sources.settings(), nowMs()];
      const registry = new Registry();
      const gauges = gaugesIn(registry);
      gauges("swapd_build_info", "1, with the version and the network in labels", Object.keys(about)).set(about, 1);
      await addHealth(gauges, health, signedElsewhere(settings));
      const counts = await reads.counts();
      addCounts(gauges, counts, strategyLabel(settings.strategies.length));
      addInstants(gauges, counts, atMs);
      addStatus(gauges, await reads.status(standingQuestion(settings, atMs)), { settings, atMs });
      addHoldings(gauges, holdings.latest(), { settings, atMs });
      const bytes = statSync(settings.database, { throwIfNoEntry: false })?.size ?? 0;
      gauges("swapd_database_bytes", "size of the database's file").set(bytes);
      return `${await counted.metrics()}\n${await registry.metrics()}`;
    },
  };
}

type Gauges = (name: string, help: string, labelNames?: readonly string[]) => Gauge;

function gaugesIn(registry: Registry): Gauges {
  return (name, help, labelNames = []) => new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] });
}

async function addHealth(gauges: Gauges, reader: HealthReader, signedFor: readonly string[]): Promise<void> {
  const { node, service, clock, database, signer, operating, mode } = await reader.readiness();
  const { tickAgeMs, healthy } = await reader.health();
  gauges("swapd_clock_skew_seconds", "how far this machine's clock is ahead of the chain's").set(
    (clock.skewMs ?? 0) / 1_000,
  );
  gauges("swapd_last_tick_age_seconds", "time since the scheduler last looked at its slots").set(tickAgeMs / 1_000);
  gauges("swapd_healthy", "1 while the daemon does its own work").set(healthy ? 1 : 0);
  gauges("swapd_live", "1 when the configuration's mode is live").set(mode === "live" ? 1 : 0);
  setOne(gauges("swapd_configured_mode", "1 for the mode of the configuration", ["mode"]), MODES, mode);
  setOne(gauges("swapd_mode", "1 for the global mode that is in force", ["mode"]), OPERATING_MODES, operating.global);
  const ready = gauges("swapd_ready", "whether what trading needs is there", ["part"]);
  for (const [part, found] of Object.entries({ node, service, clock, database, signer }))
    ready.set({ part }, found.ready ? 1 : 0);
  const signers = gauges("swapd_signer_ready", "whether the signer elsewhere of a wallet signs", ["wallet"]);
  for (const wallet of signedFor) signers.set({ wallet }, signer.away.includes(wallet) ? 0 : 1);
}

function setOne(gauge: Gauge, modes: readonly string[], inForce: string): void {
  for (const mode of modes) gauge.set({ mode }, mode === inForce ? 1 : 0);
}

function addCounts(gauges: Gauges, counts: Counts, label: (strategy: string) => string): void {
  const swaps = gauges("swapd_swaps", "swaps by state", ["state"]);
  for (const [state, count] of Object.entries(counts.swaps)) swaps.set({ state }, count);
  const runs = gauges("swapd_runs", "runs by strategy and state", ["strategy", "state"]);
  for (const strategy of counts.strategies) {
    for (const [state, count] of Object.entries(strategy.runs))
      runs.inc({ strategy: label(strategy.id), state }, count);
  }
  gauges("swapd_runs_waiting", "runs that wait for a person's approval").set(counts.waitingForApproval);
}

function addInstants(gauges: Gauges, { unknownSinceMs, lastFillMs }: Counts, atMs: number): void {
  gauges("swapd_oldest_unknown_swap_age_seconds", "how long the oldest swap has been unknown; 0: none is").set(
    unknownSinceMs === undefined ? 0 : Math.max(0, atMs - unknownSinceMs) / 1_000,
  );
  if (lastFillMs === undefined) return;
  gauges("swapd_last_fill_timestamp_seconds", "block time of the newest fill").set(lastFillMs / 1_000);
}

type Of = { readonly settings: StandingSettings; readonly atMs: number };

function addStatus(gauges: Gauges, rows: StatusRows, { settings, atMs }: Of): void {
  const alerts = gauges("swapd_alerts", "alerts that are true now", ["severity", "code"]);
  for (const { severity, code, count } of rows.alertCounts) alerts.set({ severity, code }, count);
  const waiting = gauges("swapd_channel_waiting_messages", "messages that a channel has not taken yet", ["channel"]);
  for (const { name, waiting: count } of rows.channels) waiting.set({ channel: name }, count);
  const halted = gauges("swapd_wallets_halted", "wallets that sign nothing until a person releases them");
  halted.set(rows.halts.length);
  const modes = gauges("swapd_strategy_mode", "1 for a mode of a strategy's own that is not active", [
    "strategy",
    "mode",
  ]);
  for (const { scope, mode } of rows.modes) if (scope !== GLOBAL_SCOPE) modes.set({ strategy: scope, mode }, 1);
  if (rows.standing !== undefined) addStanding(gauges, rows.standing, { settings, atMs });
}

function addStanding(gauges: Gauges, rows: StandingRows, of: Of): void {
  const { settings } = of;
  const used = gauges("swapd_cap_used_dollars", "dollars sold in a window of the policy, reserved included", [
    "window",
  ]);
  const limit = gauges("swapd_cap_limit_dollars", "dollars that the policy lets be sold in a window", ["window"]);
  const caps = { day: settings.policy.maxPerDayUsd, month: settings.policy.maxPerMonthUsd };
  for (const window of ["day", "month"] as const) {
    used.set({ window }, dollars(rows.soldUsd[window]));
    if (caps[window] !== undefined) limit.set({ window }, dollars(caps[window]));
  }
  addBudgets(gauges, rows, of);
}

/** Names of the wallets that pay for gas themselves: what is lent on paper never ends, and a Safe's owners execute. */
function gasPayers(settings: StandingSettings): ReadonlySet<string> {
  const lentTo = lentGasOf(settings);
  const paying = [...settings.wallets.values()].filter(
    (one) => one.proposals === undefined && !lentTo.has(one.address),
  );
  return new Set(paying.map(({ name }) => name));
}

/** Gas is what lies above the reserve of the policy: what a wallet can still spend on it. */
function addHoldings(gauges: Gauges, samples: readonly SampledAmount[], { settings, atMs }: Of): void {
  const labels = ["wallet", "token"];
  const balances = gauges("swapd_wallet_balance", "what a wallet has of a token", labels);
  const worth = gauges("swapd_wallet_balance_dollars", "the same in dollars, where it has a reference price", labels);
  const gas = gauges("swapd_wallet_gas_left", "what a wallet has of the native coin above the policy's reserve", [
    "wallet",
  ]);
  const allowed = [...labels, "spender"];
  const amounts = gauges("swapd_allowance", "what a contract may take of a wallet's token", allowed);
  const exposed = gauges("swapd_allowance_dollars", "the same in dollars, where it has a reference price", allowed);
  const reserve = Number(formatUnits(settings.policy.gasReserve, NATIVE_DECIMALS));
  const payers = gasPayers(settings);
  const native = [...settings.tokens.values()].find(({ token }) => token.address === NATIVE_TOKEN)?.token.symbol;
  for (const { wallet, token, spender, amount, dollars } of samples) {
    const of = spender === undefined ? { wallet, token } : { wallet, token, spender };
    (spender === undefined ? balances : amounts).set(of, amount);
    if (dollars !== undefined) (spender === undefined ? worth : exposed).set(of, dollars);
    if (spender === undefined && token === native && payers.has(wallet)) gas.set({ wallet }, amount - reserve);
  }
  const oldestMs = Math.min(...samples.map(({ readAtMs }) => readAtMs));
  if (samples.length === 0) return;
  gauges("swapd_oldest_balance_age_seconds", "how old the oldest of these is").set((atMs - oldestMs) / 1_000);
}

function addBudgets(gauges: Gauges, rows: StandingRows, { settings, atMs }: Of): void {
  const labels = ["strategy", "period", "token"];
  const used = gauges("swapd_budget_used", "sold and reserved of a strategy's budget, in its own unit", labels);
  const limit = gauges("swapd_budget_limit", "what a strategy's budget lets be sold, in its own unit", labels);
  const label = strategyLabel(settings.strategies.length);
  for (const { spec } of settings.strategies) {
    const currency = budgetCurrency(spec);
    if (currency === undefined) continue;
    for (const count of budgetCounts(rows, spec, atMs)) {
      const token = currency === "USD" ? "USD" : currency.symbol;
      const labels = { strategy: label(spec.id), period: count.bound, token };
      const decimals = currency === "USD" ? USD_DECIMALS : currency.decimals;
      used.inc(labels, Number(formatUnits(soldWithin(count, currency), decimals)));
      limit.inc(labels, Number(formatUnits(count.most, decimals)));
    }
  }
}

function dollars(usd: bigint): number {
  return Number(formatUnits(usd, USD_DECIMALS));
}

import type { Configuration } from "../config/configuration.ts";
import type { SwapContracts } from "../domain/guard/swap-contracts.ts";
import { NATIVE_TOKEN } from "../domain/money/address.ts";
import type { EngineSettings } from "../engine/engine-context.ts";
import { lentGasOf } from "./paper-accounts.ts";

/** Bounds that no configuration key sets. */
const FIXED = {
  concurrency: 16,
  retryMs: 2_000,
  longestRetryMs: 60_000,
  longestWatchMs: 15_000,
  maxClockSkewSeconds: 60,
  janitorEveryPolls: 20,
  shortestJanitorMs: 2_000,
};

/** A signature may live as long as a quote, and a little for clocks that differ by seconds. */
const LIFETIME_MARGIN_SECONDS = 5;

/** Turns a configuration into what the engine is set to. `contracts` are the pinned ones of the service that quotes. */
export function engineSettings(configuration: Configuration, contracts: SwapContracts): EngineSettings {
  const { network, timing } = configuration;
  const tokens = [...configuration.tokens.values()].map(({ token }) => token);
  return {
    live: configuration.mode !== "dry-run",
    onPaper: configuration.mode === "paper",
    lentGas: lentGasOf(configuration),
    network: network.name,
    chainId: network.chainId,
    wrappedNative: network.wrappedNative,
    native: { symbol: network.nativeSymbol, address: NATIVE_TOKEN, decimals: 18 },
    contracts,
    ...(configuration.service.furtherContracts.length === 0
      ? {}
      : { furtherContracts: configuration.service.furtherContracts }),
    signer: configuration.service.signer,
    delegates: new Map(
      [...configuration.wallets.values()].flatMap(({ address, delegate }) =>
        delegate === undefined ? [] : [[address, delegate] as const],
      ),
    ),
    safes: new Set(
      [...configuration.wallets.values()].flatMap(({ address, proposals }) =>
        proposals === undefined ? [] : [address],
      ),
    ),
    confirmations: network.confirmations,
    fallback: network.fallback,
    policy: configuration.policy,
    tokens: tokens.filter((token) => token.address !== NATIVE_TOKEN),
    strategies: configuration.strategies.map(({ spec, hash }) => ({ spec, specHash: hash })),
    notifications: configuration.notifications,
    retentionMs: configuration.retentionMs,
    pace: {
      pollMs: timing.pollIntervalMs,
      retryMs: Math.min(FIXED.retryMs, timing.pollIntervalMs * 4),
      longestRetryMs: FIXED.longestRetryMs,
      watchMs: timing.pollIntervalMs,
      longestWatchMs: Math.max(FIXED.longestWatchMs, timing.pollIntervalMs),
      maxLifetimeSeconds: maxLifetimeSeconds(configuration),
      submitMarginSeconds: Math.max(1, Math.floor(timing.quoteLifetimeSeconds / 10)),
      maxClockSkewSeconds: FIXED.maxClockSkewSeconds,
      slotClockSkewSeconds: timing.maxClockSkewSeconds,
      concurrency: FIXED.concurrency,
      janitorMs: Math.max(FIXED.shortestJanitorMs, timing.pollIntervalMs * FIXED.janitorEveryPolls),
      samplePricesMs: timing.priceSampleIntervalMs,
    },
  };
}

/** How long anything that is signed may live. */
export function maxLifetimeSeconds({ timing }: Pick<Configuration, "timing">): number {
  return Math.max(timing.quoteLifetimeSeconds, timing.permitLifetimeSeconds) + LIFETIME_MARGIN_SECONDS;
}

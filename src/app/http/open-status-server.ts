import type { Registry } from "prom-client";
import type { Configuration } from "../../config/configuration.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ReadModel } from "../../ports/read-model.ts";
import type { ComposedDaemon } from "../compose-daemon.ts";
import { openPrices } from "../open-prices.ts";
import { signedElsewhere } from "../open-signers.ts";
import { lentGasOf } from "../paper-accounts.ts";
import { createHoldingsSampler } from "../sample-holdings.ts";
import type { ApiSources } from "./api/api-sources.ts";
import { createHealthReader, type HealthReader } from "./health.ts";
import { createMetricsReader } from "./metrics.ts";
import { startStatusServer } from "./status-server.ts";

/** What the daemon's report is opened with. */
export interface StatusServerDeps {
  readonly clock: Clock;
  readonly reads: ReadModel;
  readonly logger: Logger;
  /** as it is in force */
  readonly files: { readonly inForce: Configuration };
  /** what is counted since the process began */
  readonly counted: Registry;
  /** the API, with what it reports of health */
  api(health: HealthReader): ApiSources;
  /** called with broken invariants */
  fail(error: unknown): void;
}

/** Opens what a daemon reports of itself over HTTP, with the reading of what its wallets have. */
export async function openStatusServer(
  configuration: Configuration,
  { engine, chain, node, service, abilities }: ComposedDaemon,
  { clock, reads, logger, files, counted, fail, api: openApi }: StatusServerDeps,
): Promise<{ readonly url: string; readonly health: HealthReader; stop(): Promise<void> }> {
  const { mode, listen, statusHosts } = configuration;
  const { whyUnable } = abilities;
  const from = { engine, node, service, signers: signedElsewhere(configuration) };
  const health = createHealthReader({ ...from, mode, clock, reads, whyUnable });
  const prices = openPrices(configuration, chain);
  const holdings = createHoldingsSampler(configuration, {
    ...{ chain, prices, reads, clock, logger, lentGas: lentGasOf(configuration) },
  });
  const nowMs = (): number => clock.nowMs();
  const settings = (): Configuration => files.inForce;
  const metrics = createMetricsReader({ reads, health, settings, holdings, counted, nowMs });
  const sources = { health, metrics, logger, clock, api: openApi(health) };
  const { url, stop } = await startStatusServer({ ...listen, names: statusHosts }, sources);
  const stopping = new AbortController();
  // No stop waits for it: a node may be silent.
  holdings.keepReading(stopping.signal).catch(fail);
  return {
    ...{ url, health },
    stop: async () => {
      stopping.abort();
      await stop();
    },
  };
}

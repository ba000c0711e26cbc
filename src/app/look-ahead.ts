import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../adapters/clock/system-clock.ts";
import { createRandomIds } from "../adapters/ids/random-ids.ts";
import { openStore } from "../adapters/sqlite/daemon/open-store.ts";
import { copyRecent } from "../adapters/sqlite/daemon/recent-copy.ts";
import { isMigrated } from "../adapters/sqlite/daemon/schema.ts";
import { createIntlZones } from "../adapters/zones/intl-zones.ts";
import { createDataFee } from "../chain/data-fee.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Address } from "../domain/money/address.ts";
import type { ModeRow } from "../domain/run/operating-mode.ts";
import type { EngineContext } from "../engine/engine-context.ts";
import { registerStrategies } from "../engine/register-strategies.ts";
import type { Signer } from "../ports/signer.ts";
import type { SwapService } from "../ports/swap-service.ts";
import { openDatabase } from "../storage/database.ts";
import { openDaemonDatabase } from "./daemon-database.ts";
import { digestOf } from "./encoding.ts";
import { engineSettings } from "./engine-settings.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import { openChain } from "./open-chain.ts";
import { openPaper } from "./open-paper.ts";
import { openPrices } from "./open-prices.ts";
import { addressOnly, withoutSignatures } from "./open-secrets.ts";
import { openServices } from "./open-services.ts";
import { treasuriesToLookAt } from "./open-treasuries.ts";
import { createCommandRuntime, type Runtime } from "./runtime.ts";
import { openScratchFolder } from "./scratch-folder.ts";
import { startEmbeddedService } from "./start-embedded-service.ts";
import { contractsProblem } from "./unsettled.ts";

/** What is looked ahead with. */
export interface Ahead {
  readonly configuration: Configuration;
  readonly env: NodeJS.ProcessEnv;
  /** modes that stand in the copy instead of the database's own */
  readonly modes?: readonly ModeRow[];
}

/**
 * Runs work on everything that the daemon would decide with, and nothing that it could act with: a copy of its database,
 * its chain and prices, the service (one of our own on a free port where the embedded one is configured), no keys, no
 * lanes, a dry run.
 * @throws CommandFailure in words for the operator, secrets taken out
 */
export async function lookAhead<T>(from: Ahead, work: (context: EngineContext) => Promise<T>): Promise<T> {
  const runtime = createCommandRuntime(from.env);
  const scratch = openScratchFolder("swapd-look-ahead-");
  const closing: (() => Promise<void> | void)[] = [scratch.remove];
  try {
    const context = await open(from.configuration, { runtime, folder: scratch.path, closing });
    await setModes(context, from.modes ?? []);
    return await work(context);
  } catch (error) {
    if (error instanceof CommandFailure || !(error instanceof Error)) throw error;
    throw new CommandFailure(EXIT.no, runtime.redactor.redact(`nothing can be said: ${error.message}`));
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

interface Opening {
  readonly runtime: Runtime;
  readonly folder: string;
  /** what was opened, in order; closed in the opposite one */
  readonly closing: (() => Promise<void> | void)[];
}

async function open(configuration: Configuration, opening: Opening): Promise<EngineContext> {
  const { runtime, folder, closing } = opening;
  const { contracts } = configuration.service;
  if (contracts === undefined) throw new CommandFailure(EXIT.no, contractsProblem(configuration));
  const database = join(folder, "swapd.db");
  copyDatabase(configuration.database, database);
  const db = openDaemonDatabase(database);
  closing.push(() => {
    db.close();
  });
  const services = await openPrivateServices(configuration, opening);
  const real = openChain(configuration, runtime.secrets);
  const client = (): SwapService => services.client;
  const paper = openPaper(configuration, { db, chain: real, clock: systemClock, contracts, client });
  const chain = paper?.chain ?? real;
  const context: EngineContext = {
    settings: { ...engineSettings(configuration, contracts), live: false },
    deps: {
      store: openStore(db),
      chain,
      service: paper?.service(services.client) ?? services.client,
      secondService: services.second,
      prices: openPrices(configuration, chain),
      dataFee: createDataFee(chain, configuration.network.dataFee),
      lanes: new Map(),
      signers: keylessSigners(configuration),
      treasuries: treasuriesToLookAt(configuration),
      clock: systemClock,
      ids: createRandomIds(systemClock.nowMs),
      zones: createIntlZones(),
      logger: runtime.logger,
      notifier: { notify: () => undefined },
      digest: digestOf,
      crashPoint: () => undefined,
    },
  };
  await registerStrategies(context);
  return context;
}

async function setModes({ deps: { store, clock } }: EngineContext, modes: readonly ModeRow[]): Promise<void> {
  const changes = modes.map((row) => ({ kind: "mode-corrected", row }) as const);
  const decide = () => ({ changes, atMs: clock.nowMs(), value: undefined });
  await store.commit([{ question: { kind: "nothing" } as const, decide }]);
}

/**
 * The daemon's own file is never written to, nor migrated by a newer program that only reads. What decisions ask
 * about is copied; all of it only from a database of an older release, because its migrations may count all rows.
 */
function copyDatabase(from: string, to: string): void {
  if (!existsSync(from)) return;
  const source = openDatabase({ file: from, readonly: true });
  try {
    if (!isMigrated(source)) {
      source.prepare("VACUUM INTO ?").run(to);
      return;
    }
    const target = openDatabase({ file: to });
    try {
      copyRecent(source, target, systemClock.nowMs());
    } finally {
      target.close();
    }
  } finally {
    source.close();
  }
}

async function openPrivateServices(
  configuration: Configuration,
  opening: Opening,
): Promise<ReturnType<typeof openServices>> {
  const { runtime, folder, closing } = opening;
  const { url } = configuration.service;
  const serve = {
    ...configuration.serve,
    listen: { host: "127.0.0.1", port: 0 },
    database: join(folder, "service.db"),
  };
  // Its quotes name the relayer; a second lane of that account would take nonces that the real one counts on.
  const unsigning = { ...runtime, secrets: withoutSignatures(runtime.secrets) };
  const embedded = url === "embedded" ? await startEmbeddedService({ ...configuration, serve }, unsigning) : undefined;
  if (embedded !== undefined) closing.push(() => embedded.stop());
  // A private service has a limiter of its own; calls of a shared one are paced together with the daemon's.
  const paced = embedded === undefined ? configuration : { ...configuration, database: join(folder, "swapd.db") };
  const services = openServices(paced, embedded?.url ?? url, {
    secrets: runtime.secrets,
    logger: runtime.logger,
    listenersTo: () => ({}),
  });
  closing.push(() => services.close());
  return services;
}

/** Accounts without keys: looking ahead needs none. */
function keylessSigners(configuration: Configuration): ReadonlyMap<Address, Signer> {
  return new Map([...configuration.wallets.values()].map(({ address }) => [address, addressOnly(address)]));
}

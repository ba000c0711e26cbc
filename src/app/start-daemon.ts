import { systemClock } from "../adapters/clock/system-clock.ts";
import { startTicker } from "../adapters/cron/ticker.ts";
import { createHistoryReader } from "../adapters/sqlite/daemon/history-rows.ts";
import { createIntlZones } from "../adapters/zones/intl-zones.ts";
import type { Configuration } from "../config/configuration.ts";
import type { LoadOutcome } from "../config/load-configuration.ts";
import type { Address } from "../domain/money/address.ts";
import { type AlertDeps, alertOnHalt } from "../engine/alerts.ts";
import { createEngine, type Engine } from "../engine/engine.ts";
import type { EngineContext } from "../engine/engine-context.ts";
import { createLaneListener } from "../engine/lane-listener.ts";
import { maySignIntent } from "../engine/modes.ts";
import { createLane, type Lane } from "../lane/lane.ts";
import type { LaneListener } from "../lane/lane-event.ts";
import type { Redactor } from "../net/redact.ts";
import type { Chain } from "../ports/chain.ts";
import type { Logger } from "../ports/logger.ts";
import type { Signer } from "../ports/signer.ts";
import { openDatabase, type SqliteDatabase } from "../storage/database.ts";
import { acquireLock } from "../storage/lock.ts";
import { openAlerts, watchLimit } from "./alerts.ts";
import { crashPointFrom } from "./crash-point.ts";
import { lockFileOf, openDaemonDatabase } from "./daemon-database.ts";
import { approveCalldata, digestOf } from "./encoding.ts";
import { engineSettings } from "./engine-settings.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import { startStatusServer } from "./http/status-server.ts";
import { openLaneStore } from "./lane-wiring.ts";
import { openChain } from "./open-chain.ts";
import { openPrices } from "./open-prices.ts";
import type { SecretOpener } from "./open-secrets.ts";
import { openServices } from "./open-services.ts";
import { watchFiles } from "./watch-files.ts";

/** A daemon at work. `failed` resolves when it must stop because an invariant broke. */
export interface Daemon {
  readonly url: string;
  readonly failed: Promise<unknown>;
  stop(): Promise<void>;
}

export interface DaemonDeps {
  readonly logger: Logger;
  readonly secrets: SecretOpener;
  readonly redactor: Redactor;
  readonly env: NodeJS.ProcessEnv;
  /** reads the same files again, as they are then; undefined: edits wait for the next start */
  readonly load?: (() => LoadOutcome) | undefined;
}

/**
 * Builds the daemon from its configuration and starts it.
 * @param serviceUrl where the swap service is: the configured one, or the embedded one that the caller started
 * @throws CommandFailure 75 when another daemon holds the database, 78 when chain or database are not the configured ones
 */
export async function startDaemon(configuration: Configuration, serviceUrl: string, deps: DaemonDeps): Promise<Daemon> {
  const lock = acquireLock(lockFileOf(configuration.database));
  if (lock.kind === "held") {
    throw new CommandFailure(
      EXIT.tryAgain,
      `another daemon (${lock.holder ?? "unknown"}) holds ${configuration.database}; one daemon per database`,
    );
  }
  const db = openDaemonDatabase(configuration.database);
  const reader = openDatabase({ file: configuration.database, readonly: true });
  const close = (): void => {
    reader.close();
    db.close();
    lock.release();
  };
  try {
    return await run(configuration, serviceUrl, { ...deps, db, reader, close });
  } catch (error) {
    close();
    throw error;
  }
}

type Opened = DaemonDeps & { db: SqliteDatabase; reader: SqliteDatabase; close(): void };

async function run(configuration: Configuration, serviceUrl: string, opened: Opened): Promise<Daemon> {
  const { logger, secrets, db, reader } = opened;
  for (const { file, line, message } of configuration.warnings) logger.warn({ file, line, message }, "worth a look");
  const chain = openChain(configuration, secrets);
  const router = settlementOf(configuration);
  const alerts = openAlerts(configuration, opened);
  const { store } = alerts.deps;
  const laneStore = alertOnHalt(openLaneStore(db), alerts.deps);
  const onLimit = watchLimit(alerts.deps, serviceUrl);
  const services = openServices(configuration, serviceUrl, { secrets, logger, onLimit });
  const signers = await openSigners(configuration, secrets);
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<unknown>((resolve) => {
    fail = resolve;
  });
  const lanes = new Map<Address, Lane>();
  const context: EngineContext = {
    settings: engineSettings(configuration, router),
    deps: {
      ...alerts.deps,
      laneStore,
      chain,
      service: services.client,
      prices: openPrices(configuration, chain),
      secondService: services.second,
      lanes,
      signers,
      zones: createIntlZones(),
      logger,
      digest: digestOf,
      approveCalldata,
      crashPoint: crashPointFrom(opened.env),
    },
  };
  const engine = createEngine(context, fail);
  const listener = createLaneListener({ runs: store, lanes: laneStore }, () => engine.committer);
  for (const signer of signers.values()) {
    lanes.set(signer.address, openLane(configuration, context, { signer, listener }));
  }
  // The port first: when it is taken, nothing has begun yet.
  const status = await startStatusServer(configuration.listen, {
    history: createHistoryReader(reader),
    clock: systemClock,
    lastTickMs: engine.lastTickMs,
    isChainReachable: () => isReachable(chain),
    clocks: engine.clocks,
  });
  await engine.start();
  alerts.start();
  const stopTicker = startTicker(() => engine.tick());
  const stopWatching = watchEdits(configuration, { ...alerts.deps, logger, load: opened.load }, engine);
  return {
    url: status.url,
    failed,
    stop: async () => {
      stopWatching();
      await stopTicker();
      const patience = setTimeout(services.giveUp, GIVE_UP_AFTER_MS);
      await engine.stop();
      clearTimeout(patience);
      await alerts.stop();
      await services.close();
      await status.stop();
      opened.close();
    },
  };
}

function settlementOf({ network: { name, settlement } }: Configuration): Address {
  if (settlement !== undefined) return settlement;
  const message = `no settlement contract is known on ${name}: set \`service.settlement\` to the address you verified`;
  throw new CommandFailure(EXIT.configuration, message);
}

function watchEdits(
  configuration: Configuration,
  deps: AlertDeps & Pick<DaemonDeps, "logger" | "load">,
  engine: Engine,
): () => void {
  const { load } = deps;
  if (load === undefined) return () => undefined;
  const adopt = (strategies: Configuration["strategies"]): void =>
    engine.adopt(strategies.map(({ spec, hash }) => ({ spec, specHash: hash })));
  return watchFiles(configuration, { ...deps, load, adopt });
}

async function openSigners(configuration: Configuration, secrets: SecretOpener): Promise<Map<Address, Signer>> {
  const signers = new Map<Address, Signer>();
  for (const wallet of configuration.wallets.values()) {
    const signer = await secrets.signer(wallet.key);
    signers.set(signer.address, signer);
  }
  return signers;
}

/** A stop waits so long for answers of the service. The next start asks again, or looks at the chain. */
const GIVE_UP_AFTER_MS = 2_000;

/** A transaction past its deadline is cancelled only once it surely cannot land any more. */
const CANCEL_MARGIN_SECONDS = 2;

function openLane(
  configuration: Configuration,
  context: EngineContext,
  parts: { signer: Signer; listener: LaneListener },
): Lane {
  const { laneStore, chain, clock, logger, store, crashPoint } = context.deps;
  const { signer, listener } = parts;
  return createLane(
    {
      account: signer.address,
      chainId: configuration.network.chainId,
      confirmations: configuration.network.confirmations,
      ...configuration.transactions,
      cancelMarginSeconds: CANCEL_MARGIN_SECONDS,
      signing: (intentId) => maySignIntent({ store, laneStore }, intentId),
    },
    { store: laneStore, chain, signer, clock, logger, listener, crashPoint },
  );
}

async function isReachable(chain: Chain): Promise<boolean> {
  try {
    await chain.latest();
    return true;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}

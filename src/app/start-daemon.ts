import { createPrometheusMeter } from "../adapters/metrics/prometheus-meter.ts";
import { createReadModel } from "../adapters/sqlite/daemon/read-model.ts";
import type { Configuration } from "../config/configuration.ts";
import type { AlertDeps } from "../engine/alerts.ts";
import type { Engine } from "../engine/engine.ts";
import type { Redactor } from "../net/redact.ts";
import type { Logger } from "../ports/logger.ts";
import type { Claim } from "../storage/claim.ts";
import { openDatabase, type SqliteDatabase } from "../storage/database.ts";
import { refuseOldRequests } from "./chat/listen.ts";
import { openChat } from "./chat/open-chat.ts";
import { closeAll } from "./close-all.ts";
import { createCommitSignal } from "./commit-signal.ts";
import { composeDaemon } from "./compose-daemon.ts";
import { crashPointFrom } from "./crash-point.ts";
import { assertClaimed, claimDaemonDatabase, claimLost, openDaemonDatabase, openMarker } from "./daemon-database.ts";
import { startHeartbeat } from "./heartbeat.ts";
import type { HealthReader } from "./http/health.ts";
import { openStatusServer } from "./http/open-status-server.ts";
import { type Machine, thisMachine } from "./machine.ts";
import { openApi } from "./open-api.ts";
import type { SecretOpener } from "./open-secrets.ts";
import { type WatchDeps, watchFiles } from "./watch-files.ts";

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
  /** undefined: edits wait for the next start */
  readonly edits?: Pick<WatchDeps, "asRead" | "load"> | undefined;
}

/**
 * Builds the daemon from its configuration and starts it.
 * @param serviceUrl where the swap service is: the configured one, or the embedded one that the caller started
 * @throws CommandFailure 75 when another daemon holds the database, 78 when chain or database are not the configured ones
 */
export async function startDaemon(configuration: Configuration, serviceUrl: string, deps: DaemonDeps): Promise<Daemon> {
  const claim = claimDaemonDatabase(configuration.database);
  const closing: (() => void)[] = [claim.release];
  const close = (): void => {
    for (const one of closing.splice(0).reverse()) one();
  };
  try {
    const db = openDaemonDatabase(claim.file);
    closing.push(() => db.close());
    claim.watchContents(db);
    const reader = openDatabase({ file: claim.file, readonly: true });
    closing.push(() => reader.close());
    return await run(configuration, serviceUrl, { ...deps, claim, db, reader, close });
  } catch (error) {
    close();
    throw error;
  }
}

type Opened = DaemonDeps & { claim: Claim; db: SqliteDatabase; reader: SqliteDatabase; close(): void };

async function run(configuration: Configuration, serviceUrl: string, opened: Opened): Promise<Daemon> {
  const { logger, claim, reader } = opened;
  const { narrowed } = claim;
  if (narrowed.length > 0) logger.warn({ narrowed }, "files that others could read are their owner's alone now");
  for (const { file, line, message } of configuration.warnings)
    logger.warn({ file, line, message }, "configuration warning");
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<unknown>((resolve) => {
    fail = resolve;
  });
  const machine = thisMachine();
  const { meter, registry: counted } = createPrometheusMeter(configuration.strategies.map(({ spec }) => spec.id));
  const crashPoint = crashPointFrom(opened.env);
  const commits = createCommitSignal(machine.clock);
  const composed = await composeDaemon(configuration, serviceUrl, {
    ...opened,
    machine,
    crashPoint,
    meter,
    commits,
    onFatal: fail,
    marker: openMarker(configuration),
    beforeSigning: () => assertClaimed(claim),
  });
  const { engine, alerts, services, chain, abilities, checkWallets } = composed;
  const files = { inForce: configuration };
  const closers: (() => unknown)[] = [services.close, alerts.stop];
  const stop = async (): Promise<void> => {
    try {
      await closeAll(closers);
    } finally {
      opened.close();
    }
  };
  try {
    // The port first: when it is taken, nothing has begun yet.
    const reads = createReadModel(reader);
    const api = (health: HealthReader) => openApi({ ...composed, ...opened, files, reads, health, machine, commits });
    const served = { ...machine, reads, logger, files, counted, fail, api };
    const status = await openStatusServer(configuration, composed, served);
    closers.unshift(status.stop);
    closers.push(startHeartbeat(configuration, { ...opened, machine, reads, health: status.health }));
    closers.push(async () => {
      const patience = setTimeout(services.giveUp, GIVE_UP_AFTER_MS);
      await engine.stop();
      clearTimeout(patience);
    });
    alerts.start();
    closers.push(abilities.stop);
    // Nothing waits for it: what the endpoints lack is reported, and the daemon goes on.
    abilities.keepTrying(chain).catch(fail);
    composed.askSigners().catch(fail);
    checkWallets().catch(fail);
    const refused = await refuseOldRequests(alerts.deps);
    const tick = (): void => {
      if (claim.problem() === undefined) engine.tick().catch(fail);
      else fail(claimLost(claim));
    };
    closers.push(machine.startTicker(tick));
    await startWithin(engine, machine, fail);
    closers.push(openChat(files, { ...opened, machine, reads, alerts: alerts.deps, refused }));
    closers.push(await watchEdits(files, { ...alerts.deps, logger, edits: opened.edits }, engine));
    return { url: status.url, failed, stop };
  } catch (error) {
    await stop().catch((second: unknown) => logger.error({ error: second }, "what was started could not be stopped"));
    throw error;
  }
}

/** A silent node delays no start: the check of the chain goes on in the background. */
const CHECK_WITHIN_MS = 1_000;

async function startWithin(engine: Engine, machine: Machine, fail: (error: unknown) => void): Promise<void> {
  const started = engine.start();
  started.catch(fail);
  await Promise.race([started, machine.clock.sleep(CHECK_WITHIN_MS)]);
}

async function watchEdits(
  files: { inForce: Configuration },
  { edits, ...deps }: AlertDeps & Pick<DaemonDeps, "logger" | "edits">,
  engine: Engine,
): Promise<() => unknown> {
  if (edits === undefined) return () => undefined;
  const adopt = async (strategies: Configuration["strategies"]): Promise<void> => {
    await engine.adopt(strategies.map(({ spec, hash }) => ({ spec, specHash: hash })));
    files.inForce = { ...files.inForce, strategies };
  };
  return await watchFiles(files.inForce, { ...deps, ...edits, adopt });
}

/** A stop waits so long for answers of the service. The next start asks again, or checks the chain. */
const GIVE_UP_AFTER_MS = 2_000;

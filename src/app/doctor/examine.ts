import type { Configuration } from "../../config/configuration.ts";
import { type Address, toAddress } from "../../domain/money/address.ts";
import type { BlockHead, Chain } from "../../ports/chain.ts";
import { isDamage } from "../../storage/backup.ts";
import { StorageError } from "../../storage/database.ts";
import { checkKeys } from "../check-machine.ts";
import { checkRouters } from "../check-routers.ts";
import { checkSilentSecrets } from "../check-secrets.ts";
import { checkService } from "../check-service.ts";
import { askSigners } from "../check-signers.ts";
import { readStatus, type StatusDocument } from "../commands/status-document.ts";
import { type DatabaseHealth, readDatabaseHealth } from "../database-health.ts";
import { CommandFailure } from "../exit-codes.ts";
import { type Machine, thisMachine } from "../machine.ts";
import { openChain } from "../open-chain.ts";
import { readAllowances } from "../read-allowances.ts";
import { createRuntime, type Runtime } from "../runtime.ts";
import { configurationOf, type Target, withReads } from "../target.ts";
import { about, type Diagnosis, fine, type Judged, judgedOf, PARTS } from "./diagnosis.ts";
import { judgeAlerts } from "./look-at-alerts.ts";
import { judgeChannels } from "./look-at-channels.ts";
import { aheadOfOthersMs, bestReadings, judgeClock, readingClocks } from "./look-at-clock.ts";
import { judgeDatabase } from "./look-at-database.ts";
import { judgeDisk, roomAt } from "./look-at-disk.ts";
import { askEndpoints, type EndpointLook, judgeEndpoints, judgeTogether, whereOpen } from "./look-at-endpoints.ts";
import { judgeLanes, type LaneRows } from "./look-at-lanes.ts";
import { judgeAllowances, judgeRights } from "./look-at-rights.ts";
import { judgeDaemon, judgeSettings } from "./look-at-settings.ts";

interface Context {
  readonly target: Target;
  readonly configuration: Configuration;
  readonly runtime: Runtime;
  readonly machine: Machine;
}

/**
 * Looks at everything that a daemon needs: here, in its rows, at its endpoints and its service. Nothing is written, sent
 * or signed, and it makes no difference whether a daemon runs.
 */
export async function examine(target: Target, machine: Machine = thisMachine()): Promise<readonly Diagnosis[]> {
  const { configuration, env } = configurationOf(target);
  const runtime = createRuntime({ level: "silent", env });
  const context = { target, configuration, runtime, machine };
  const health = await readDatabaseHealth(target.database, configuration);
  const rows = await readRows(context);
  const found = [
    ...(await examineOutside(context)),
    ...(await examineRows(context, health, rows)),
    ...about("database", judgeDatabase(health, { mode: configuration.mode, nowMs: machine.clock.nowMs() })),
    ...about("keys", (await checkKeys(configuration, runtime)).map(judgedOf)),
    ...about("keys", (await askSigners(configuration, runtime)).map(judgedOf)),
    ...about("keys", (await checkSilentSecrets(configuration, runtime)).map(judgedOf)),
    ...about("disk", judgeDisk(roomAt(target.database), health, machine.clock.nowMs())),
    ...about("channels", judgeChannels(configuration, runtime, rows.status)),
  ];
  return found.sort((one, other) => PARTS.indexOf(one.part) - PARTS.indexOf(other.part));
}

/** Endpoints, service and clock: what they answer is looked at together, because each shows a time. */
async function examineOutside({ configuration, runtime, machine }: Context): Promise<readonly Diagnosis[]> {
  const looks = await askEndpoints(configuration, runtime, machine);
  const { fetch, readings } = readingClocks(machine);
  const service = await checkService(configuration, runtime, { ...machine, fetch });
  const isEmbedded = configuration.service.url === "embedded";
  const host = isEmbedded ? "" : `the service ${new URL(configuration.service.url).host}`;
  const clocks = bestReadings([...looks.flatMap(({ clocks: seen }) => seen), ...readings(host)]);
  const nowMs = machine.clock.nowMs();
  const knownMs = nowMs - (aheadOfOthersMs(clocks) ?? 0);
  const boundSeconds = configuration.timing.maxClockSkewSeconds;
  const isOpen = looks.every(({ chain }) => chain !== undefined);
  const routers = isOpen ? (await checkRouters(configuration, runtime)).map(judgedOf) : [];
  const embedded = [fine("embedded", "runs within the daemon, from the RPC endpoints alone"), ...routers];
  return [
    ...about("clock", judgeClock(clocks, { nowMs, head: newestOf(looks), boundSeconds })),
    ...about("endpoints", judgeEndpoints(looks, configuration, knownMs)),
    ...about("endpoints", await judgeTogether(looks, { configuration, runtime, machine })),
    ...about("service", isEmbedded ? embedded : service.map(judgedOf)),
  ];
}

function newestOf(looks: readonly EndpointLook[]): BlockHead | undefined {
  const heads = looks.flatMap(({ head }) => head ?? []);
  return heads.sort((one, other) => other.timestamp - one.timestamp)[0];
}

/** What the rows say; undefined where there are none, or none that can be read. */
interface Rows {
  readonly status: StatusDocument | undefined;
  readonly lanes: LaneRows | undefined;
  readonly problem: string | undefined;
}

async function readRows({ target, configuration }: Context): Promise<Rows> {
  try {
    return await withReads(target, async (reads) => {
      const lanes = { ...(await reads.transactions(0)), counts: await reads.counts() };
      const status = await readStatus(reads, { database: target.database, settings: configuration });
      return { status, lanes, problem: undefined };
    });
  } catch (error) {
    const isKnown = error instanceof CommandFailure || error instanceof StorageError || isDamage(error);
    if (!isKnown) throw error;
    return { status: undefined, lanes: undefined, problem: error.message };
  }
}

async function examineRows(
  context: Context,
  { database }: DatabaseHealth,
  { status, lanes, problem }: Rows,
): Promise<readonly Diagnosis[]> {
  const { configuration, machine } = context;
  const nowMs = machine.clock.nowMs();
  const unread: Judged = {
    what: "rows",
    state: "not tried",
    found: problem ?? `of ${database}`,
    mend: "swapd db check",
  };
  const isRead = status !== undefined && lanes !== undefined;
  return [
    ...about("daemon", isRead ? judgeDaemon(status) : [unread]),
    ...about("settings", judgeSettings(configuration, status)),
    ...about("allowances", await examineAllowances(context)),
    ...about("signed", isRead ? judgeRights(lanes.rights, nowMs) : [unread]),
    ...about("lanes", isRead ? judgeLanes(lanes, { nowMs, counted: await countOf(context, lanes) }) : [unread]),
    ...about("alerts", isRead ? judgeAlerts(status) : [unread]),
  ];
}

async function examineAllowances({ target, configuration }: Context): Promise<readonly Judged[]> {
  if (configuration.mode === "paper") return [fine("open", "on paper nothing is approved on the chain")];
  try {
    return judgeAllowances(await readAllowances(configurationOf(target), { skipsRefused: true }));
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return [{ what: "open", state: "not tried", found: error.message, mend: "swapd allowances list" }];
  }
}

/** How many transactions the chain counts of accounts with an open one; those that cannot be asked are left out. */
async function countOf(context: Context, { intents }: LaneRows): Promise<ReadonlyMap<Address, number>> {
  const { configuration, runtime, machine } = context;
  const counted = new Map<Address, number>();
  if (configuration.mode === "paper" || intents.length === 0) return counted;
  const opened = whereOpen(() => ({ chain: openChain(configuration, runtime.secrets, machine) }));
  if ("problem" in opened) return counted;
  for (const account of new Set(intents.map(({ account: one }) => toAddress(one)))) {
    const count = await countAt(opened.chain, account);
    if (count !== undefined) counted.set(account, count);
  }
  return counted;
}

async function countAt(chain: Chain, account: Address): Promise<number | undefined> {
  try {
    return await chain.transactionCount(account, "latest");
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return undefined;
  }
}

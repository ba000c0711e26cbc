import { type AlertSender, startAlertSender } from "../adapters/notify/alert-sender.ts";
import { createLogNotifier } from "../adapters/notify/log-notifier.ts";
import { createAlertOutbox, setAlertChannels } from "../adapters/sqlite/daemon/alert-outbox.ts";
import { openStore } from "../adapters/sqlite/daemon/open-store.ts";
import { createIntlZones } from "../adapters/zones/intl-zones.ts";
import type { Configuration } from "../config/configuration.ts";
import { SUBJECT } from "../domain/run/alert.ts";
import { isOpenAt } from "../domain/schedule/opening-hours.ts";
import type { WeekWindow } from "../domain/schedule/schedule.ts";
import { wallAt } from "../domain/schedule/wall-clock.ts";
import { DAY_MS, MINUTE_MS } from "../domain/time/durations.ts";
import { type AlertDeps, raiseChange, writeAndNotify } from "../engine/alerts.ts";
import type { Redactor } from "../net/redact.ts";
import { hostOf } from "../net/secret.ts";
import type { Logger } from "../ports/logger.ts";
import type { SqliteDatabase } from "../storage/database.ts";
import { type CommitSignal, signalling } from "./commit-signal.ts";
import type { Machine } from "./machine.ts";
import { openChannels } from "./open-channels.ts";
import type { SecretOpener } from "./open-secrets.ts";

/**
 * A day of attempts: a receiver that was away for a night gets everything; what is older is sent only while it is true.
 */
const DELIVERY = {
  shortestRetryMs: 2_000,
  longestRetryMs: 30 * MINUTE_MS,
  mostAttempts: 100,
  longestAgeMs: DAY_MS,
  mostWaiting: 1_000,
  stopWithinMs: 1_000,
} as const;

/** What raises and sends the alerts of a daemon. */
export interface Alerts {
  readonly deps: AlertDeps;
  /** Begins to send what waits, by every channel at once. */
  start(): void;
  stop(): Promise<void>;
}

/** @throws CommandFailure 78 when a configured channel cannot be one */
export async function openAlerts(
  configuration: Configuration,
  opened: {
    readonly machine: Machine;
    readonly db: SqliteDatabase;
    readonly logger: Logger;
    readonly secrets: SecretOpener;
    readonly redactor: Redactor;
    readonly commits?: Pick<CommitSignal, "committed"> | undefined;
  },
): Promise<Alerts> {
  const { db, logger, machine } = opened;
  const { clock, ids } = machine;
  const channels = openChannels(configuration, opened);
  const { digest } = configuration.notifications;
  for (const { name, waiting } of await setAlertChannels(db, channels)) {
    logger.warn({ channel: name, waiting }, "a channel of alerts is configured no more; what waited for it is dropped");
  }
  const log = createLogNotifier(logger);
  const senders: AlertSender[] = [];
  return {
    deps: {
      store: signalling(openStore(db), opened.commits),
      ids,
      clock,
      notifier: {
        notify: (message) => {
          log.notify(message);
          for (const sender of senders) sender.wake();
        },
      },
    },
    start: () => {
      for (const { name: channel, kind, host, severities, quiet, deliver } of channels) {
        logger.info({ channel, kind, host, severities }, "alerts are sent to a channel");
        const outbox = createAlertOutbox(db, channel);
        const isQuiet = (nowMs: number): boolean => isWithin(quiet, digest.timezone, nowMs);
        senders.push(startAlertSender(DELIVERY, { channel, outbox, clock, logger, isQuiet, deliver }));
      }
    },
    stop: async () => {
      await Promise.all(senders.map((sender) => sender.stop()));
    },
  };
}

const zones = createIntlZones();

function isWithin(hours: WeekWindow | undefined, timezone: string, nowMs: number): boolean {
  if (hours === undefined) return false;
  return isOpenAt([hours], wallAt(nowMs, timezone, zones));
}

/** Raises an alert while a service has asked for no calls,with the instant until which that lasts. */
export function watchHeldBack(deps: AlertDeps, serviceUrl: string): (untilMs: number | undefined) => Promise<void> {
  const host = hostOf(serviceUrl);
  const subject = SUBJECT.callsTo(host);
  return async (untilMs) => {
    if (untilMs === undefined) return await writeAndNotify(deps, [{ kind: "alerts-over", subject }]);
    const until = new Date(untilMs).toISOString();
    const text = `the service at ${host} asked for no calls until ${until}: nothing is quoted or submitted before then; ask its operator about the limit of the API key`;
    const alert = { severity: "critical", code: "SERVICE_HOLDS_US_BACK", subject, text } as const;
    await writeAndNotify(deps, [raiseChange(deps, alert)]);
  };
}

/** Raises an alert when the service states another rate limit than its profile says, and ends it when that is over. */
export function watchLimit(
  deps: AlertDeps,
  serviceUrl: string,
): (limits: { expected: number; seen: number }) => Promise<void> {
  const host = hostOf(serviceUrl);
  const subject = SUBJECT.service(host);
  return async ({ expected, seen }) => {
    const text = `the service at ${host} allows ${seen} calls a second, not ${expected}; check the API key`;
    const alert = { severity: "warning", code: "RATE_LIMIT_UNEXPECTED", subject, text } as const;
    const over = { kind: "alerts-over", subject } as const;
    await writeAndNotify(deps, [seen === expected ? over : raiseChange(deps, alert)]);
  };
}

import { type AlertSender, startAlertSender } from "../adapters/notify/alert-sender.ts";
import { createLogNotifier } from "../adapters/notify/log-notifier.ts";
import { createWebhook } from "../adapters/notify/webhook.ts";
import { createAlertOutbox } from "../adapters/sqlite/daemon/alert-rows.ts";
import { createStore } from "../adapters/sqlite/daemon/store.ts";
import type { Configuration, WebhookConfiguration } from "../config/configuration.ts";
import { SUBJECT } from "../domain/run/alert.ts";
import { type AlertDeps, raiseChange, writeAndTell } from "../engine/alerts.ts";
import type { Redactor } from "../net/redact.ts";
import { hostOf, type Secret } from "../net/secret.ts";
import type { Logger } from "../ports/logger.ts";
import type { SqliteDatabase } from "../storage/database.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import type { Machine } from "./machine.ts";
import type { SecretOpener } from "./open-secrets.ts";

/** A day of trying: a receiver that was away for a night hears of everything, and of what is older only while it is true. */
const DELIVERY = {
  shortestRetryMs: 2_000,
  longestRetryMs: 30 * 60_000,
  mostAttempts: 100,
  longestAgeMs: 24 * 3_600_000,
  mostWaiting: 1_000,
  stopWithinMs: 1_000,
} as const;

const SHORTEST_SECRET = 16;

/** The webhook that a configuration names, undefined when it names none. */
export function openWebhook(
  configuration: Configuration,
  {
    secrets,
    redactor,
    machine,
  }: { readonly secrets: SecretOpener; readonly redactor: Redactor; readonly machine?: Pick<Machine, "fetch"> },
): { readonly host: string; readonly deliver: ReturnType<typeof createWebhook> } | undefined {
  const { webhook, network, timing } = configuration;
  if (webhook === undefined) return undefined;
  const { url, secret } = openParts(webhook, secrets);
  const options = { url, secret, network: network.name, timeoutMs: timing.requestTimeoutMs };
  return { host: hostOf(url), deliver: createWebhook({ ...options, fetch: machine?.fetch }, redactor.redact) };
}

/** @throws CommandFailure 78 when they cannot be what they are for; neither is shown */
function openParts(webhook: WebhookConfiguration, secrets: SecretOpener): { url: Secret; secret: Secret } {
  const url = secrets.open(webhook.url);
  const secret = secrets.open(webhook.secret);
  const protocol = URL.canParse(url.reveal()) ? new URL(url.reveal()).protocol : undefined;
  if (protocol !== "http:" && protocol !== "https:") {
    throw new CommandFailure(EXIT.configuration, "what alerts.webhook.url refers to is no http or https URL");
  }
  const { length } = secret.reveal();
  if (length < SHORTEST_SECRET) {
    const message = `what alerts.webhook.secret refers to has ${length} characters; give it at least ${SHORTEST_SECRET}, for example from: openssl rand -hex 32`;
    throw new CommandFailure(EXIT.configuration, message);
  }
  return { url, secret };
}

/** What raises and sends the alerts of a daemon. */
export interface Alerts {
  readonly deps: AlertDeps;
  /** Begins to send what waits, when there is somewhere to send it. */
  start(): void;
  stop(): Promise<void>;
}

/** @throws CommandFailure 78 when the configured webhook cannot be one */
export function openAlerts(
  configuration: Configuration,
  opened: {
    readonly machine: Machine;
    readonly db: SqliteDatabase;
    readonly logger: Logger;
    readonly secrets: SecretOpener;
    readonly redactor: Redactor;
  },
): Alerts {
  const { db, logger, machine } = opened;
  const { clock, ids } = machine;
  const webhook = openWebhook(configuration, opened);
  const log = createLogNotifier(logger);
  let sender: AlertSender | undefined;
  return {
    deps: {
      store: createStore(db, { sendAlertsFrom: configuration.webhook?.minimum }),
      ids,
      clock,
      notifier: {
        notify: (message) => {
          log.notify(message);
          sender?.wake();
        },
      },
    },
    start: () => {
      const minimum = configuration.webhook?.minimum;
      if (webhook === undefined || minimum === undefined) return;
      logger.info({ host: webhook.host, minimum }, "alerts are sent to a webhook");
      const outbox = createAlertOutbox(db);
      sender = startAlertSender({ ...DELIVERY, minimum }, { outbox, clock, logger, deliver: webhook.deliver });
    },
    stop: async () => await sender?.stop(),
  };
}

/** Raises an alert while a service has asked for no calls, with the instant until which that holds. */
export function watchHeldBack(deps: AlertDeps, serviceUrl: string): (untilMs: number | undefined) => Promise<void> {
  const host = hostOf(serviceUrl);
  const subject = SUBJECT.callsTo(host);
  return async (untilMs) => {
    if (untilMs === undefined) return await writeAndTell(deps, [{ kind: "alerts-over", subject }]);
    const until = new Date(untilMs).toISOString();
    const text = `the service at ${host} asked for no calls until ${until}: nothing is quoted or handed over before; ask its operator about the limit of the API key`;
    const alert = { severity: "critical", code: "SERVICE_HOLDS_US_BACK", subject, text } as const;
    await writeAndTell(deps, [raiseChange(deps, alert)]);
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
    await writeAndTell(deps, [seen === expected ? over : raiseChange(deps, alert)]);
  };
}

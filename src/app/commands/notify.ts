import { systemClock } from "../../adapters/clock/system-clock.ts";
import { createRandomIds } from "../../adapters/ids/random-ids.ts";
import { openWebhook } from "../alerts.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { createRuntime } from "../runtime.ts";
import { configurationFile, readConfiguration } from "../target.ts";
import type { Terminal } from "../terminal.ts";

/**
 * `swapd notify test`: sends one alert to the webhook, here and now, and shows what its receiver answers. No row is
 * written and no daemon is asked, so it can be tried before the first start.
 */
export async function notifyTest(options: { config?: string; json?: boolean }, terminal: Terminal): Promise<void> {
  const configuration = readConfiguration(configurationFile(options), EXIT.no);
  const webhook = openWebhook(configuration, createRuntime({ level: "error", env: process.env }));
  if (webhook === undefined) {
    const example = "alerts: { webhook: { url: { env: ALERT_URL }, secret: { env: ALERT_SECRET } } }";
    throw new CommandFailure(EXIT.no, `${configuration.file} names no webhook; add for example ${example}`);
  }
  const nowMs = systemClock.nowMs();
  const alert = {
    id: createRandomIds(systemClock.nowMs).newId("alert"),
    severity: "info",
    code: "TEST",
    subject: "swapd notify test",
    text: "a test of the alert webhook; nothing is to be done",
    strategy: undefined,
    runId: undefined,
    atMs: nowMs,
  } as const;
  const { taken, status, detail } = await webhook.deliver(alert, { nowMs });
  const { host } = webhook;
  if (options.json === true)
    terminal.out(JSON.stringify({ host, alert: alert.id, taken, status: status ?? null, detail }));
  else if (taken) terminal.out(`${host} took the alert ${alert.id}: ${detail}`);
  if (taken) return;
  const meaning = "an alert counts as taken with a status of 200 to 299";
  throw new CommandFailure(
    EXIT.no,
    options.json === true ? "" : `${host} did not take the alert: ${detail}; ${meaning}`,
  );
}

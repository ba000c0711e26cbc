import { systemClock } from "../../adapters/clock/system-clock.ts";
import { createRandomIds } from "../../adapters/ids/random-ids.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { sayMode } from "../mode-line.ts";
import { type OpenedChannel, openChannels } from "../open-channels.ts";
import { createCommandRuntime } from "../runtime.ts";
import { configurationFile, readConfiguration } from "../target.ts";
import type { Terminal } from "../terminal.ts";

/** What came of the test of one channel. */
interface Tested {
  readonly channel: string;
  readonly kind: string;
  readonly host: string;
  /** the id of the alert that was sent */
  readonly alert: string;
  readonly taken: boolean;
  readonly detail: string;
}

/**
 * `swapd notify test`: sends one alert to each channel, here and now and all at once, and shows what their receivers
 * answer. No row is written and no daemon is asked, so it can be tried before the first start.
 */
export async function notifyTest(options: { config?: string; json?: boolean }, terminal: Terminal): Promise<void> {
  const configuration = readConfiguration(configurationFile(options), EXIT.no);
  sayMode({ kind: "configured", configuration, database: configuration.database }, options, terminal);
  const channels = openChannels(configuration, createCommandRuntime(process.env));
  if (channels.length === 0) {
    const example = "alerts: { webhook: { url: { env: ALERT_URL }, secret: { env: ALERT_SECRET } } }";
    throw new CommandFailure(EXIT.no, `${configuration.file} names no channel for alerts; add for example ${example}`);
  }
  const tested = await Promise.all(channels.map(testChannel));
  if (options.json === true) terminal.out(JSON.stringify({ channels: tested }));
  const isPlain = options.json !== true;
  for (const { channel, host, alert, taken, detail } of isPlain ? tested : [])
    if (taken) terminal.out(`${channel}: ${host} took the alert ${alert}: ${detail}`);
  const failed = tested.filter(({ taken }) => !taken);
  if (failed.length === 0) return;
  const lines = failed.map(({ channel, host, detail }) => `${channel}: ${host} did not take the alert: ${detail}`);
  throw new CommandFailure(EXIT.no, isPlain ? lines.join("\n") : "");
}

async function testChannel({ name, kind, host, deliver }: OpenedChannel): Promise<Tested> {
  const nowMs = systemClock.nowMs();
  const alert = {
    id: createRandomIds(systemClock.nowMs).newId("alert"),
    severity: "info",
    code: "TEST",
    subject: "swapd notify test",
    text: `a test of the channel ${name}; nothing is to be done`,
    strategy: undefined,
    runId: undefined,
    atMs: nowMs,
  } as const;
  const signal = new AbortController().signal;
  const answer = await deliver({ alert, number: 0, tells: "begin", overAtMs: undefined }, { nowMs, signal });
  const taken = answer.kind === "delivered";
  return { ...{ channel: name, kind, host }, alert: alert.id, taken, detail: answer.detail };
}

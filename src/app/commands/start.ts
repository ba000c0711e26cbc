import { loadConfiguration } from "../../config/load-configuration.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { createRuntime } from "../runtime.ts";
import { startDaemon } from "../start-daemon.ts";
import { startEmbeddedService } from "../start-embedded-service.ts";
import { stopOnSignals } from "../stop-signals.ts";
import { configurationFile, readConfiguration } from "../target.ts";
import type { Terminal } from "../terminal.ts";

/** `swapd start`: runs the daemon until it is stopped. */
export async function start(options: { config?: string; for?: number }, terminal: Terminal): Promise<void> {
  const file = configurationFile(options);
  const configuration = readConfiguration(file, EXIT.configuration);
  const runtime = createRuntime({ level: configuration.logLevel, env: process.env });
  const stop = stopOnSignals(options.for);
  const parts: { stop(): Promise<void> }[] = [];
  try {
    const { url } = configuration.service;
    const embedded = url === "embedded" ? await startEmbeddedService(configuration, runtime) : undefined;
    if (embedded !== undefined) parts.push(embedded);
    const daemon = await startDaemon(configuration, embedded?.url ?? url, {
      ...runtime,
      load: () => loadConfiguration(configuration.file, process.env),
    });
    parts.push(daemon);
    runtime.logger.info({ mode: configuration.mode, statusUrl: daemon.url }, "the daemon is up");
    const failure = await Promise.race([stop.asked.then(() => undefined), daemon.failed]);
    if (failure !== undefined) {
      const text = failure instanceof Error ? `${failure.name}: ${failure.message}` : String(failure);
      terminal.err(runtime.redactor.redact(`the daemon stops, the next start recovers: ${text}`));
      process.exit(failure instanceof CommandFailure ? failure.exitCode : EXIT.invariant);
    }
    runtime.logger.info({}, "the daemon is stopping");
  } catch (error) {
    throw asFailure(error, { file, redact: runtime.redactor.redact });
  } finally {
    const limit = setTimeout(() => {
      terminal.err(`the step in work did not end within ${configuration.timing.shutdownMs} ms; the next start goes on`);
      process.exit(EXIT.ok);
    }, configuration.timing.shutdownMs);
    for (const part of parts.reverse()) await part.stop();
    clearTimeout(limit);
    stop.done();
  }
}

/** Whatever keeps the daemon from starting is a matter of configuration, with its secrets taken out. */
function asFailure(error: unknown, from: { file: string; redact(text: string): string }): unknown {
  if (error instanceof CommandFailure || !(error instanceof Error)) return error;
  const message = `the daemon cannot start: ${error.message} (configuration: ${from.file})`;
  return new CommandFailure(EXIT.configuration, from.redact(message));
}

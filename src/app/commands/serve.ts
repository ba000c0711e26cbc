import { CommandFailure, EXIT } from "../exit-codes.ts";
import { createRuntime } from "../runtime.ts";
import { startEmbeddedService } from "../start-embedded-service.ts";
import { stopOnSignals } from "../stop-signals.ts";
import { configurationFile, readConfiguration } from "../target.ts";
import type { Terminal } from "../terminal.ts";

/** `swapd serve`: the aggregation service alone, until it is stopped. */
export async function serve(options: { config?: string; for?: number }, terminal: Terminal): Promise<void> {
  const file = configurationFile(options);
  const configuration = readConfiguration(file, EXIT.configuration);
  const runtime = createRuntime({ level: configuration.logLevel, env: process.env });
  const stop = stopOnSignals(options.for);
  const service = await startEmbeddedService(configuration, runtime).catch((error: unknown) => {
    if (error instanceof CommandFailure || !(error instanceof Error)) throw error;
    throw new CommandFailure(EXIT.configuration, runtime.redactor.redact(`the service cannot start: ${error.message}`));
  });
  terminal.out(`the service is up at ${service.url}; its interface: ${service.url}/openapi.json`);
  await stop.asked;
  await service.stop();
  stop.done();
}

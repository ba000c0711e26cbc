import type { Service } from "../../service/service.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { createRuntime, type Runtime } from "../runtime.ts";
import { type ServeFlags, serveNetwork } from "../serve-network.ts";
import { startEmbeddedService } from "../start-embedded-service.ts";
import { stopOnSignals } from "../stop-signals.ts";
import { configurationFile, readConfiguration } from "../target.ts";
import type { Terminal } from "../terminal.ts";

type ServeCommandOptions = Partial<ServeFlags> & { readonly config?: string; readonly for?: number };

/** `swapd serve`: the aggregation service alone, by a configuration or for one network by flags, until it is stopped. */
export async function serve(options: ServeCommandOptions, terminal: Terminal): Promise<void> {
  const { runtime, start } = starterOf(options);
  const stop = stopOnSignals(options.for);
  const service = await start().catch((error: unknown) => {
    if (error instanceof CommandFailure || !(error instanceof Error)) throw error;
    throw new CommandFailure(EXIT.configuration, runtime.redactor.redact(`the service cannot start: ${error.message}`));
  });
  terminal.out(
    `the service is up at ${service.url}; its interface: ${service.url}/docs and ${service.url}/openapi.json`,
  );
  if (service.metricsUrl !== undefined) terminal.out(`metrics: ${service.metricsUrl}/metrics`);
  await stop.asked;
  await service.stop();
  stop.done();
}

function starterOf(options: ServeCommandOptions): { runtime: Runtime; start: () => Promise<Service> } {
  const { network, ...flags } = options;
  if (network === undefined) {
    const configuration = readConfiguration(configurationFile(options), EXIT.configuration);
    const runtime = createRuntime({ level: configuration.logLevel, env: process.env });
    return { runtime, start: () => startEmbeddedService(configuration, runtime) };
  }
  if (options.config !== undefined) {
    throw new CommandFailure(EXIT.usage, "--network and --config are two ways to say the same: give one of them");
  }
  const runtime = createRuntime({ level: "info", env: process.env });
  return { runtime, start: () => serveNetwork({ ...flags, network }, runtime) };
}

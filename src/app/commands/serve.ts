import type { Service } from "../../service/service.ts";
import { endOnUncaught } from "../end-on-uncaught.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { type GivenFlag, networksOf } from "../network-flags.ts";
import { createRuntime, type Runtime } from "../runtime.ts";
import { type ServeFlags, serveNetworks } from "../serve-network.ts";
import { startEmbeddedService } from "../start-embedded-service.ts";
import { troubleOfStart } from "../start-trouble.ts";
import { stopOnSignals } from "../stop-signals.ts";
import { configurationFile, readConfiguration } from "../target.ts";
import type { Terminal } from "../terminal.ts";

type ServeCommandOptions = Omit<ServeFlags, "networks"> & {
  readonly config?: readonly string[];
  readonly given: readonly GivenFlag[];
  readonly for?: number;
};

/** `swapd serve`: the aggregation service alone, by configurations or by flags, until it is stopped. */
export async function serve(options: ServeCommandOptions, terminal: Terminal): Promise<void> {
  const { runtime, start } = starterOf(options);
  const stop = stopOnSignals(options.for);
  const release = endOnUncaught(runtime.redactor.redact, terminal, "service");
  const fail = (error: unknown): never => {
    if (error instanceof CommandFailure) throw error;
    const { kind, exitCode, message } = troubleOfStart(error);
    if (kind === "ours") throw error;
    throw new CommandFailure(exitCode, runtime.redactor.redact(`the service cannot start: ${message}`));
  };
  const service = await start().catch(fail);
  terminal.out(
    `the service is up at ${service.url}; its interface: ${service.url}/docs and ${service.url}/openapi.json`,
  );
  if (service.metricsUrl !== undefined) terminal.out(`metrics: ${service.metricsUrl}/metrics`);
  const failure = await Promise.race([stop.asked.then(() => undefined), service.failed]);
  if (failure === undefined) runtime.logger.info({ askedBy: await stop.asked }, "the service is stopping");
  await service.stop();
  release();
  stop.done();
  if (failure !== undefined) fail(failure);
}

function starterOf(options: ServeCommandOptions): { runtime: Runtime; start: () => Promise<Service> } {
  const { config = [], given, ...flags } = options;
  if (given.length === 0) {
    const files =
      config.length === 0 ? [configurationFile({})] : config.map((file) => configurationFile({ config: file }));
    const [first, ...others] = files.map((file) => readConfiguration(file, EXIT.configuration));
    if (first === undefined) throw new Error("there is always a first configuration");
    const runtime = createRuntime({ level: first.logLevel, env: process.env });
    return { runtime, start: () => startEmbeddedService(first, runtime, others) };
  }
  if (config.length > 0) {
    throw new CommandFailure(EXIT.usage, "--network and --config are two ways to say the same: give one of them");
  }
  const networks = networksOf(given);
  const runtime = createRuntime({ level: "info", env: process.env });
  return { runtime, start: () => serveNetworks({ ...flags, networks }, runtime) };
}

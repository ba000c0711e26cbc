import type { Service } from "../../service/service.ts";
import { endOnUncaught } from "../end-on-uncaught.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { type GivenFlag, networksOf } from "../network-flags.ts";
import { type Listening, portTrouble } from "../port-trouble.ts";
import { createRuntime, type Runtime } from "../runtime.ts";
import { type ServeFlags, serveNetworks, serveOptions } from "../serve-network.ts";
import { listeningOfService, startEmbeddedService } from "../start-embedded-service.ts";
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
  const { runtime, start, listening, place } = starterOf(options);
  const stop = stopOnSignals(options.for);
  const release = endOnUncaught(runtime.redactor.redact, terminal, "service");
  const fail = (error: unknown): never => {
    if (error instanceof CommandFailure) throw error;
    const { kind, exitCode, message } = troubleOfStart(error);
    if (kind === "ours") throw error;
    const words = portTrouble(error, listening, place) ?? message;
    throw new CommandFailure(exitCode, runtime.redactor.redact(`the service cannot start: ${words}`));
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

interface Starter {
  readonly runtime: Runtime;
  readonly start: () => Promise<Service>;
  readonly listening: readonly Listening[];
  /** where that is said */
  readonly place: string;
}

function starterOf(options: ServeCommandOptions): Starter {
  const { config = [], given, ...flags } = options;
  if (given.length === 0) {
    const files =
      config.length === 0 ? [configurationFile({})] : config.map((file) => configurationFile({ config: file }));
    const [first, ...others] = files.map((file) => readConfiguration(file, EXIT.configuration));
    if (first === undefined) throw new Error("there is always a first configuration");
    const runtime = createRuntime({ level: first.logLevel, format: first.logFormat, env: process.env });
    const said = { listening: listeningOfService(first.serve), place: first.file };
    return { runtime, start: () => startEmbeddedService(first, runtime, others), ...said };
  }
  if (config.length > 0) {
    throw new CommandFailure(EXIT.usage, "--network and --config are two ways to say the same: give one of them");
  }
  const networks = networksOf(given);
  const runtime = createRuntime({ level: "info", env: process.env });
  const served = serveOptions({ ...flags, networks }, runtime);
  const { listen, metrics } = served;
  const listening = [
    { key: "--listen", listen },
    ...(metrics === undefined ? [] : [{ key: "--metrics", listen: metrics }]),
  ];
  return { runtime, start: () => serveNetworks(served, runtime), listening, place: "the command line" };
}

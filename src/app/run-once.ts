import type { Configuration } from "../config/configuration.ts";
import { formatProblems } from "../config/problem.ts";
import { closeAll } from "./close-all.ts";
import { hasLostDatabase } from "./daemon-database.ts";
import { type Ending, endOnUncaught, endProcess } from "./end-on-uncaught.ts";
import { EXIT } from "./exit-codes.ts";
import { loadConfiguration, loadInSlices } from "./load-configuration.ts";
import { modeLine } from "./mode-line.ts";
import { noteEndedDaemon, noteEndedStart } from "./note-ended-start.ts";
import { type Listening, portTrouble } from "./port-trouble.ts";
import { createRuntime, type Runtime } from "./runtime.ts";
import { startDaemon } from "./start-daemon.ts";
import { listeningOfService, startEmbeddedService } from "./start-embedded-service.ts";
import { type StartTrouble, troubleOf, troubleOfStart } from "./start-trouble.ts";
import type { Terminal } from "./terminal.ts";
import { type FilesState, stateOf } from "./watch-files.ts";

/** What one life of the daemon came to. */
export interface LifeEnd {
  /** undefined: it ran and was asked to stop */
  readonly trouble: StartTrouble | undefined;
  /** undefined where it could not be read */
  readonly configuration: Configuration | undefined;
  /** files whose change may help */
  readonly files: readonly string[];
}

/**
 * Reads the configuration and runs a daemon by it until `asked` resolves, or until it cannot go on. A broken invariant
 * ends the process here: nothing is stopped step by step then, the next start recovers.
 */
export async function runOnce(file: string, terminal: Terminal, asked: Promise<string>): Promise<LifeEnd> {
  const loaded = loadConfiguration(file, process.env);
  if (!loaded.ok) {
    const message = formatProblems(loaded.problems);
    const files = [...new Set([file, ...loaded.problems.map((problem) => problem.file)])];
    return {
      trouble: { kind: "person", exitCode: EXIT.configuration, message },
      configuration: undefined,
      files,
    };
  }
  const { configuration } = loaded;
  const asRead = stateOf(configuration);
  const { origin } = configuration;
  const files = [...origin.files, ...(origin.strategies === undefined ? [] : [origin.strategies])];
  const parts: { stop(): Promise<void> }[] = [];
  let redact = (text: string): string => text;
  let release = (): void => undefined;
  let trouble: StartTrouble | undefined;
  const note = (words: string, error: unknown): void => {
    if (!hasLostDatabase(error)) noteEndedDaemon(configuration.database, words);
  };
  const ending: Ending = { err: terminal.err, note };
  try {
    const runtime = createRuntime({ level: configuration.logLevel, format: configuration.logFormat, env: process.env });
    redact = runtime.redactor.redact;
    release = endOnUncaught(redact, ending);
    runtime.logger.info({ mode: configuration.mode }, modeLine(configuration));
    const { statusUrl, failed } = await startParts({ configuration, asRead }, runtime, parts);
    runtime.logger.info({ mode: configuration.mode, statusUrl }, "the daemon is up");
    const failure = await Promise.race([asked.then(() => undefined), ...failed]);
    if (failure === undefined) runtime.logger.info({ askedBy: await asked }, "the daemon is stopping");
    else trouble = afterFailure(failure, redact, ending);
  } catch (error) {
    trouble = inWords(troubleOfStart(error), portTrouble(error, listeningOf(configuration), file), { file, redact });
  }
  const end = { patienceMs: configuration.timing.shutdownMs, exitCode: trouble?.exitCode, terminal };
  await stopParts(parts, end).catch((error: unknown) => endProcess(error, redact, ending));
  release();
  if (trouble !== undefined) noteEndedStart(configuration.database, trouble.message);
  return { trouble, configuration, files };
}

async function startParts(
  { configuration, asRead }: { configuration: Configuration; asRead: FilesState },
  runtime: Runtime,
  parts: { stop(): Promise<void> }[],
): Promise<{ statusUrl: string; failed: readonly Promise<unknown>[] }> {
  const { url } = configuration.service;
  const embedded = url === "embedded" ? await startEmbeddedService(configuration, runtime) : undefined;
  if (embedded !== undefined) parts.push(embedded);
  const daemon = await startDaemon(configuration, embedded?.url ?? url, {
    ...runtime,
    edits: { asRead, load: () => loadInSlices(configuration.file, process.env) },
  });
  parts.push(daemon);
  return { statusUrl: daemon.url, failed: [daemon.failed, ...(embedded === undefined ? [] : [embedded.failed])] };
}

/** What a person can put right is returned; anything else ends the process at once. */
function afterFailure(failure: unknown, redact: (text: string) => string, ending: Ending): StartTrouble {
  const trouble = troubleOf(failure);
  if (trouble.kind === "person") return { ...trouble, message: redact(trouble.message) };
  endProcess(failure, redact, ending);
}

/** With the file that it is about, and without secrets. */
function inWords(
  trouble: StartTrouble,
  port: string | undefined,
  { file, redact }: { file: string; redact(text: string): string },
): StartTrouble {
  const words = port ?? `${trouble.message} (configuration: ${file})`;
  return { ...trouble, message: redact(`the daemon cannot start: ${words}`) };
}

function listeningOf({ listen, serve, service }: Configuration): readonly Listening[] {
  const own: readonly Listening[] = service.url === "embedded" ? listeningOfService(serve) : [];
  return [{ key: "http.listen", listen }, ...own];
}

async function stopParts(
  parts: { stop(): Promise<void> }[],
  end: { patienceMs: number; exitCode: number | undefined; terminal: Terminal },
): Promise<void> {
  const limit = setTimeout(() => {
    end.terminal.err(`the step in work did not end within ${end.patienceMs} ms; the next start goes on`);
    process.exit(end.exitCode ?? EXIT.ok);
  }, end.patienceMs);
  try {
    await closeAll(parts.map((part) => () => part.stop()));
  } finally {
    clearTimeout(limit);
  }
}

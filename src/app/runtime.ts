import { openSync } from "node:fs";
import pino, { type DestinationStream } from "pino";
import { createLogger, type LogLevel } from "../adapters/pino/pino-logger.ts";
import { readableLines } from "../adapters/pino/readable-lines.ts";
import { openStandardOutput } from "../adapters/pino/standard-output.ts";
import { createRedactor, type Redactor } from "../net/redact.ts";
import type { Logger } from "../ports/logger.ts";
import { createSecretOpener, type SecretOpener } from "./open-secrets.ts";
import { outliveReader } from "./terminal.ts";

/** What every part of a running process shares. */
export interface Runtime {
  readonly logger: Logger;
  readonly redactor: Redactor;
  readonly secrets: SecretOpener;
  readonly env: NodeJS.ProcessEnv;
}

/** How log lines are written: `auto` is `text` at a terminal, else `json`. */
export type LogFormat = "auto" | "json" | "text";

/** Of a command: its answer alone stands on standard output, which another program may read. */
export function createCommandRuntime(env: NodeJS.ProcessEnv): Runtime {
  const destination = pino.destination({ dest: 2, sync: true });
  outliveReader(destination);
  const redactor = createRedactor();
  const isTerminal = process.stderr.isTTY === true;
  const lines = isTerminal ? readableLines(destination, { colours: (env.NO_COLOR ?? "") === "" }) : destination;
  const logger = createLogger({ level: "error", redactor, destination: lines });
  return { logger, redactor, env, secrets: createSecretOpener(env, redactor) };
}

/** @param options.logFile where log lines go, as JSON, instead of standard output */
export function createRuntime(options: {
  level: LogLevel;
  env: NodeJS.ProcessEnv;
  logFile?: string;
  format?: LogFormat;
}): Runtime {
  const redactor = createRedactor();
  const { level, env, logFile, format = "auto" } = options;
  // A file is opened here: one that cannot be fails the start, where pino would open it later and fail whatever runs then.
  const destination =
    logFile === undefined
      ? openStandardOutput((dropped) =>
          logger.warn({ dropped }, "lines of this log were lost: whoever reads it took none for a while"),
        )
      : openLogFile(logFile);
  const isTerminal = process.stdout.isTTY === true;
  const isText = logFile === undefined && (format === "text" || (format === "auto" && isTerminal));
  const colours = isTerminal && (env.NO_COLOR ?? "") === "";
  const lines = isText ? readableLines(destination, { colours }) : destination;
  const logger: Logger = createLogger({ level, redactor, destination: lines });
  return { logger, redactor, env, secrets: createSecretOpener(env, redactor) };
}

function openLogFile(file: string): DestinationStream {
  const output = pino.destination({ dest: openSync(file, "a"), sync: false });
  outliveReader(output);
  return output;
}

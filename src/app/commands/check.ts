import { basename, resolve } from "node:path";
import { formatProblems, type Problem } from "../../config/problem.ts";
import { findingsOf, findingsText } from "../check-everything.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import type { Finding } from "../finding.ts";
import { loadConfiguration } from "../load-configuration.ts";
import { modeLine } from "../mode-line.ts";
import { assertReadable } from "../no-rights.ts";
import { createCommandRuntime } from "../runtime.ts";
import { configurationFile } from "../target.ts";
import type { Terminal } from "../terminal.ts";

/**
 * `swapd check`: all problems of a configuration and the files it names, at once; then what it names on this machine, at
 * the service and on the chain. Ends with 1 when anything is not in order.
 */
export async function check(
  file: string | undefined,
  options: { config?: string; json?: boolean; offline?: boolean },
  terminal: Terminal,
): Promise<void> {
  const named = file ?? configurationFile(options);
  assertReadable(named);
  const loaded = loadConfiguration(resolve(named), process.env);
  if (!loaded.ok) {
    const document = { ok: false, problems: loaded.problems, warnings: [] };
    terminal.out(options.json === true ? JSON.stringify(document) : formatProblems(loaded.problems));
    throw new CommandFailure(EXIT.no, "");
  }
  const runtime = createCommandRuntime(process.env);
  const { machine, service, chain } = await findingsOf(loaded.configuration, runtime, options);
  const findings = [...machine, ...service, ...chain];
  const { warnings } = loaded.configuration;
  const strategies = loaded.configuration.strategies.map(({ spec }) => spec.id);
  const ok = findings.every((finding) => finding.whatToDo === undefined);
  if (options.json === true) {
    const parts = { machine: plain(machine), service: plain(service), chain: plain(chain) };
    terminal.out(JSON.stringify({ ok, mode: loaded.configuration.mode, strategies, problems: [], warnings, ...parts }));
  } else {
    const count = strategies.length === 1 ? "1 strategy" : `${strategies.length} strategies`;
    terminal.out(`${named}: the files are in order; ${count} (${strategies.join(", ")})`);
    terminal.out(modeLine(loaded.configuration));
    if (warnings.length > 0) terminal.out(`\n${warningsText(warnings)}`);
    if (findings.length > 0) terminal.out(`\n${findingsText(findings)}`);
  }
  if (!ok) throw new CommandFailure(EXIT.no, "");
}

/** A line each, with its place; what to do about them is said once. */
function warningsText(warnings: readonly Problem[]): string {
  const lines = warnings.map(({ file, line, column, message }) => `  ${basename(file)}:${line}:${column}: ${message}`);
  const advice = new Set(warnings.flatMap(({ suggestion }) => suggestion ?? []));
  return ["warnings:", ...lines, ...[...advice].map((text) => `  -> ${text}`)].join("\n");
}

function plain(findings: readonly Finding[]) {
  return findings.map(({ whatToDo, ...finding }) => ({ ...finding, whatToDo: whatToDo ?? null }));
}

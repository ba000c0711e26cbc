import { resolve } from "node:path";
import { formatProblems } from "../../config/problem.ts";
import type { ChainFinding } from "../chain-finding.ts";
import { checkChain } from "../check-chain.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { loadConfiguration } from "../load-configuration.ts";
import { configurationFile } from "../target.ts";
import { formatTable, type Terminal } from "../terminal.ts";

/**
 * `swapd check`: all problems of a configuration and the files it names, at once; then what it names on the chain. Ends
 * with 1 when anything is not in order.
 */
export async function check(
  file: string | undefined,
  options: { config?: string; json?: boolean; offline?: boolean },
  terminal: Terminal,
): Promise<void> {
  const named = file ?? configurationFile(options);
  const loaded = loadConfiguration(resolve(named), process.env);
  if (!loaded.ok) {
    const document = { ok: false, problems: loaded.problems, warnings: [] };
    terminal.out(options.json === true ? JSON.stringify(document) : formatProblems(loaded.problems));
    throw new CommandFailure(EXIT.no, "");
  }
  const chain = options.offline === true ? [] : await checkChain(loaded.configuration, process.env);
  const { warnings } = loaded.configuration;
  const strategies = loaded.configuration.strategies.map(({ spec }) => spec.id);
  const ok = chain.every((finding) => finding.whatToDo === undefined);
  if (options.json === true) {
    const findings = chain.map(({ whatToDo, ...finding }) => ({ ...finding, whatToDo: whatToDo ?? null }));
    terminal.out(JSON.stringify({ ok, strategies, problems: [], warnings, chain: findings }));
  } else {
    const count = strategies.length === 1 ? "1 strategy" : `${strategies.length} strategies`;
    terminal.out(`${named}: the files are in order; ${count} (${strategies.join(", ")})`);
    if (warnings.length > 0) terminal.out(`\nwarnings:\n${formatProblems(warnings)}`);
    if (chain.length > 0) terminal.out(`\n${chainText(chain)}`);
  }
  if (!ok) throw new CommandFailure(EXIT.no, "");
}

function chainText(chain: readonly ChainFinding[]): string {
  return formatTable(
    chain.map(({ what, found, whatToDo, isWarning }) => [
      whatToDo !== undefined ? "PROBLEM" : isWarning === true ? "warning" : "ok",
      what,
      whatToDo === undefined ? found : `${found} -> ${whatToDo}`,
    ]),
  );
}

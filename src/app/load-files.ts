import { type LoadOptions, type LoadOutcome, loadConfiguration, loadInTurns } from "../config/load-configuration.ts";
import { kindProblem } from "../service/pools/kinds.ts";

type Environment = Parameters<typeof loadConfiguration>[1];

/** {@link loadConfiguration}, which refuses factories of pools that the service does not know. */
export function loadFiles(path: string, env: Environment, options: LoadOptions = {}): LoadOutcome {
  return loadConfiguration(path, env, { ...options, kindProblem });
}

/** {@link loadInTurns}, likewise. */
export async function loadFilesInTurns(path: string, env: Environment): Promise<LoadOutcome> {
  return await loadInTurns(path, env, { kindProblem });
}

import type { Configuration } from "../config/configuration.ts";
import { checkChain } from "./check-chain.ts";
import { checkMachine } from "./check-machine.ts";
import { checkService } from "./check-service.ts";
import { checkSigners } from "./check-signers.ts";
import type { Finding } from "./finding.ts";
import type { Runtime } from "./runtime.ts";
import { formatTable } from "./terminal.ts";

/** What was found of all that a configuration names, by where it was looked up. */
export interface Findings {
  readonly machine: readonly Finding[];
  readonly service: readonly Finding[];
  readonly chain: readonly Finding[];
}

/** Looks at what a configuration names: on this machine, and where it is not offline at the service and on the chain. */
export async function findingsOf(
  configuration: Configuration,
  runtime: Runtime,
  { offline = false }: { readonly offline?: boolean } = {},
): Promise<Findings> {
  const here = await checkMachine(configuration, runtime);
  if (offline) return { machine: here, service: [], chain: [] };
  const machine = [...here, ...(await checkSigners(configuration, runtime))];
  const service = await checkService(configuration, runtime);
  return { machine, service, chain: await checkChain(configuration, runtime) };
}

/** Findings for people, one a line. */
export function findingsText(findings: readonly Finding[]): string {
  return formatTable(
    findings.map(({ what, found, whatToDo, isWarning }) => [
      whatToDo !== undefined ? "PROBLEM" : isWarning === true ? "warning" : "ok",
      what,
      whatToDo === undefined ? found : `${found} -> ${whatToDo}`,
    ]),
  );
}

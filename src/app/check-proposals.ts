import { join } from "node:path";
import { getAddress } from "ethers";
import { delegationOf } from "../adapters/proposals/transaction-service/delegation.ts";
import { unlisted } from "../adapters/proposals/transaction-service/transaction-service.ts";
import type { Configuration, TransactionServiceConfiguration } from "../config/configuration.ts";
import type { Address } from "../domain/money/address.ts";
import { hostOf } from "../net/secret.ts";
import type { Chain } from "../ports/chain.ts";
import { ownersOf } from "./check-safes.ts";
import { CommandFailure } from "./exit-codes.ts";
import type { Finding } from "./finding.ts";
import { thisMachine } from "./machine.ts";
import { openTransactionService } from "./open-treasuries.ts";
import type { Runtime } from "./runtime.ts";
import { openScratchFolder } from "./scratch-folder.ts";

interface Checked {
  readonly configuration: Configuration;
  readonly chain: Chain;
  readonly runtime: Runtime;
}

/** The services that proposals go to: whether they answer, and whether the delegate may propose and can do nothing else. */
export async function checkProposals(checked: Checked): Promise<Finding[]> {
  const { configuration, chain } = checked;
  const findings: Finding[] = [];
  for (const { name, address: safe, proposals } of configuration.wallets.values()) {
    if (proposals?.service === undefined) continue;
    const { service } = proposals;
    const owners = await ownersOf(chain, safe, (await chain.latest()).number);
    findings.push(...powerOf({ name, safe, delegate: service.delegate.address }, owners));
    findings.push(await checkDelegation(checked, service, { safe, owners }));
  }
  return configuration.mode === "live" ? findings : findings.map(onlyLive);
}

/** By the chain: an owner's signature under a proposal counts as a part of its execution, or as all of it. */
function powerOf(
  { name, safe, delegate }: { readonly name: string; readonly safe: Address; readonly delegate: Address },
  owners: readonly Address[],
): readonly Finding[] {
  if (!owners.includes(delegate)) return [];
  const found = `${getAddress(delegate)} is an owner of the Safe ${getAddress(safe)}: its signature counts`;
  return [{ what: `delegate of ${name}`, found, whatToDo: "make a key that owns nothing: swapd wallet new" }];
}

async function checkDelegation(
  { configuration, runtime }: Checked,
  service: TransactionServiceConfiguration,
  { safe, owners }: { readonly safe: Address; readonly owners: readonly Address[] },
): Promise<Finding> {
  const delegate = service.delegate.address;
  const what = `proposals at ${hostOf(service.url)}`;
  const seen = await ask(configuration, service, { runtime, safe });
  if (seen.kind === "unknown")
    return {
      what,
      found: runtime.redactor.redact(seen.detail),
      whatToDo: "nothing is proposed there while it does not answer: check proposals.service.url and apiKey",
    };
  // Who was an owner when he listed it may be none any more.
  const valid = seen.delegators.filter((one) => owners.includes(one));
  if (valid.length === 0) return { what, found: "it answers", whatToDo: unlisted(safe, delegate) };
  const by = valid.map((one) => getAddress(one)).join(", ");
  return { what, found: `it answers, and ${getAddress(delegate)} may propose (listed by ${by})`, whatToDo: undefined };
}

/** The pace of its calls is kept in a file, and a check leaves none behind. */
async function ask(
  configuration: Configuration,
  service: TransactionServiceConfiguration,
  { runtime, safe }: { readonly runtime: Runtime; readonly safe: Address },
): ReturnType<typeof delegationOf> {
  const scratch = openScratchFolder("swapd-check-");
  try {
    const aside = { ...configuration, database: join(scratch.path, "check.db") };
    const { secrets, logger } = runtime;
    const { calls, close } = openTransactionService(aside, service, { machine: thisMachine(), secrets, logger });
    return await delegationOf(calls, { safe, delegate: service.delegate.address }).finally(close);
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { kind: "unknown", detail: error.message };
  } finally {
    scratch.remove();
  }
}

/** On paper and in a dry run nothing is proposed: what is not in order there is good to know before it is live. */
function onlyLive({ what, found, whatToDo }: Finding): Finding {
  if (whatToDo === undefined) return { what, found, whatToDo };
  return { what, found: `${found}; before it is live: ${whatToDo}`, whatToDo: undefined, isWarning: true };
}

import { getAddress } from "ethers";
import type { Configuration, RemoteKeySource } from "../config/configuration.ts";
import { LOOPBACK } from "../config/fields.ts";
import type { SigningError } from "../domain/signing-error.ts";
import { hostOf } from "../net/secret.ts";
import { CommandFailure } from "./exit-codes.ts";
import type { Finding } from "./finding.ts";
import { openRemoteSigner } from "./open-remote-signer.ts";
import type { Runtime } from "./runtime.ts";

/**
 * Asks each signer elsewhere whether it has the account, and for signatures of what is worth nothing: for which chain it
 * signs it tells in no other way.
 */
export async function checkSigners(configuration: Configuration, runtime: Runtime): Promise<readonly Finding[]> {
  const { wallets, serve, mode, network } = configuration;
  const keys = [...wallets.values()].flatMap(({ name, key }) =>
    key?.kind === "remote" ? [[`signer of ${name}`, key] as const] : [],
  );
  const { relayer } = serve;
  if (relayer?.kind === "remote") keys.push(["signer of the relayer", relayer]);
  const findings: Finding[] = [];
  for (const [what, key] of keys) {
    findings.push(...clear(what, key));
    const finding = await checkSigner({ what, key, chainId: network.chainId }, runtime);
    findings.push(mode === "paper" ? onlyWarned(finding) : finding);
  }
  return findings;
}

/** Whoever hears the way to it reads what is signed; and who reaches it can ask as well. */
function clear(what: string, { url }: RemoteKeySource): readonly Finding[] {
  const { protocol, hostname } = new URL(url);
  if (protocol === "https:" || LOOPBACK.has(hostname)) return [];
  const found = `${hostOf(url)} is asked without TLS: let nobody else reach that network, or use https with tls (docs/OPERATIONS.md, Signer)`;
  return [{ what, found, whatToDo: undefined, isWarning: true }];
}

async function checkSigner(
  { what, key, chainId }: { readonly what: string; readonly key: RemoteKeySource; readonly chainId: number },
  { secrets }: Runtime,
): Promise<Finding> {
  try {
    const signer = openRemoteSigner(key, secrets.open);
    const trouble = (await signer.whyUnable()) ?? (await signer.tryOut(chainId));
    if (trouble !== undefined) return { what, found: trouble.message, whatToDo: remedy(trouble, chainId) };
    const tried = "an unsendable transaction and a typed text of no contract, which are worth nothing";
    const found = `${hostOf(key.url)} signs for ${getAddress(key.address)} on chain ${chainId}: tried with ${tried}`;
    return { what, found, whatToDo: undefined };
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { what, found: error.message, whatToDo: "nothing can be signed: correct the file, or what names it" };
  }
}

function remedy({ code, message }: SigningError, chainId: number): string {
  if (code === "different" && message.includes("chainId is"))
    return `nothing of it would be sent: start the signer for this chain (web3signer: --chain-id ${chainId})`;
  if (code === "different") return "nothing of it would be sent: find out who answers there, before anything else";
  if (code === "refused") return "give the signer the key of this address, or name the address of its key";
  return "start the signer, or name where it listens";
}

function onlyWarned({ what, found, whatToDo }: Finding): Finding {
  if (whatToDo === undefined) return { what, found, whatToDo };
  return { what, found: `${found}; on paper nothing asks it, live it is needed`, whatToDo: undefined, isWarning: true };
}

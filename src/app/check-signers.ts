import { getAddress } from "ethers";
import type { RemoteSigner } from "../adapters/remote-signer/remote-signer.ts";
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
export function checkSigners(configuration: Configuration, runtime: Runtime): Promise<readonly Finding[]> {
  return lookAtSigners(configuration, runtime, async (signer, { host, account, chainId }) => {
    const trouble = (await signer.whyUnable()) ?? (await signer.tryOut(chainId));
    const tried = "an unsendable transaction and a typed text of no contract, which are worth nothing";
    return trouble ?? `${host} signs for ${account} on chain ${chainId}: tried with ${tried}`;
  });
}

/** Asks each signer elsewhere whether it has the account, and for no signature. */
export function askSigners(configuration: Configuration, runtime: Runtime): Promise<readonly Finding[]> {
  return lookAtSigners(configuration, runtime, async (signer, { host, account }) => {
    const tried = "no signature was asked for (`swapd check` tries one)";
    return (await signer.whyUnable()) ?? `${host} answers and has ${account}; ${tried}`;
  });
}

interface Asked {
  readonly host: string;
  readonly account: string;
  readonly chainId: number;
}

/** @returns what was found, or what keeps it from signing */
type Look = (signer: RemoteSigner, asked: Asked) => Promise<string | SigningError>;

async function lookAtSigners(configuration: Configuration, runtime: Runtime, look: Look): Promise<readonly Finding[]> {
  const { wallets, serve, mode, network } = configuration;
  const keys = [...wallets.values()].flatMap(({ name, key }) =>
    key?.kind === "remote" ? [[`signer of ${name}`, key] as const] : [],
  );
  const { relayer } = serve;
  if (relayer?.kind === "remote") keys.push(["signer of the relayer", relayer]);
  const findings: Finding[] = [];
  for (const [what, key] of keys) {
    findings.push(...clear(what, key));
    const finding = await lookAt({ what, key, chainId: network.chainId, look }, runtime);
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

async function lookAt(
  { what, key, chainId, look }: { what: string; key: RemoteKeySource; chainId: number; look: Look },
  { secrets }: Runtime,
): Promise<Finding> {
  try {
    const asked = { host: hostOf(key.url), account: getAddress(key.address), chainId };
    const found = await look(openRemoteSigner(key, secrets.open), asked);
    if (typeof found !== "string") return { what, found: found.message, whatToDo: remedy(found, chainId) };
    return { what, found, whatToDo: undefined };
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { what, found: error.message, whatToDo: "nothing can be signed: correct the file, or what names it" };
  }
}

/** What Node calls a certificate that is not believed: `CERT_HAS_EXPIRED`, `DEPTH_ZERO_SELF_SIGNED_CERT` and others. */
const CERTIFICATE = /\((?!\w*ALERT)(?:\w*_)?(?:CERT|CERTIFICATE|SIGNATURE|ISSUER_CERT|ALTNAME)(?:_\w+)?\)/;

function remedy({ code, message }: SigningError, chainId: number): string {
  if (code === "different" && message.includes("chainId is"))
    return `nothing of it would be sent: start the signer for this chain (web3signer: --chain-id ${chainId})`;
  if (code === "different") return "nothing of it would be sent: find out who answers there, before anything else";
  if (code === "refused") return remedyOfRefusal(message);
  if (CERTIFICATE.test(message))
    return "renew the signer's certificate where it is over, or name the one that it shows as tls.authority";
  return "start the signer, or name where it listens";
}

/** What it refuses has a cause of its own: a name that it does not serve, who we are, or typed data that it cannot read. */
function remedyOfRefusal(message: string): string {
  if (message.includes("Host not authorized"))
    return "let the signer serve the name by which it is asked (web3signer: --http-host-allowlist)";
  if (/ answered 40[13]\b/.test(message))
    return "compare `token` and `tls` of this signer with what it, or a proxy in front of it, asks for";
  if (message.includes("refused eth_signTypedData"))
    return "let the account be served by one that signs typed data (web3signer: 23.9.0 or newer)";
  return "give the signer the key of this address, or name the address of its key";
}

function onlyWarned({ what, found, whatToDo }: Finding): Finding {
  if (whatToDo === undefined) return { what, found, whatToDo };
  return { what, found: `${found}; on paper nothing asks it, live it is needed`, whatToDo: undefined, isWarning: true };
}

import { type Address, parseAddress } from "../domain/money/address.ts";
import { at, type Part, type Path, refuse, sound } from "./complaint.ts";
import type { KeySource, RemoteKeySource } from "./configuration.ts";
import { LOOPBACK } from "./fields.ts";
import { resolveSecret } from "./files.ts";
import { keySource } from "./references.ts";
import type { KeyFields } from "./schemas/wallet-schema.ts";
import type { Source } from "./source.ts";

/** What keys depend on besides the files. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly allowsRawKeys: boolean;
  /** the account of a raw private key; undefined where the text is none */
  accountOfKey(text: string): Address | undefined;
}

const ENCRYPT = "encrypt it: swapd wallet import, then keystore and password";

/** Where a key is, when the rule for raw keys admits it. */
export function* buildKeySource(
  source: Source,
  path: Path,
  fields: KeyFields,
  { allowsRawKeys }: Surroundings,
): Part<KeySource> {
  const key = keySource(source, fields);
  if (key.kind === "remote") return (yield* sound(checkRemote([...path, "signer"], key))) && key;
  if (key.kind === "keystore") return key;
  if ("file" in key.privateKey)
    return yield* refuse`${path}.privateKey: a raw key is never read from a file -> ${ENCRYPT}`;
  if (allowsRawKeys) return key;
  return yield* refuse`${path}.privateKey: a raw key is accepted in the sandbox only -> ${ENCRYPT}`;
}

/** Whoever hears a token can ask for signatures; and who we are is shown over TLS alone. */
function* checkRemote(path: Path, { url, token, tls }: RemoteKeySource): Part<true> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol))
    return yield* refuse`${path}.url: is no http or https URL -> name where the signer listens: "https://127.0.0.1:9000"`;
  const { username, password, search, hash, protocol, hostname } = parsed;
  if (username !== "" || password !== "" || search !== "" || hash !== "")
    return yield* refuse`${path}.url: a signer's URL is a host and a path only -> a token goes into token next to it`;
  if (protocol === "https:") return true;
  if (tls !== undefined)
    return yield* refuse`${path}.tls: a certificate is shown over https alone -> write https in url, or leave tls out`;
  if (token !== undefined && !LOOPBACK.has(hostname))
    return yield* refuse`${path}.token: the token would cross the network in the clear -> use https`;
  return true;
}

/** The account of a key, without its password: a keystore file names it, and the configuration may state it. */
export function* findAddress(
  path: Path,
  key: KeySource,
  stated: Address | undefined,
  around: Surroundings,
): Part<Address> {
  return key.kind === "remote" ? key.address : yield* addressOfText(path, { key, stated }, around);
}

function* addressOfText(
  path: Path,
  { key, stated }: { readonly key: Exclude<KeySource, RemoteKeySource>; readonly stated: Address | undefined },
  { env, accountOfKey }: Surroundings,
): Part<Address> {
  const isKeystore = key.kind === "keystore";
  const place = [...path, isKeystore ? "keystore" : "privateKey"];
  const secret = resolveSecret(isKeystore ? key.keystore : key.privateKey, env);
  if (!secret.ok) {
    if (stated !== undefined) return stated;
    const fix = isKeystore ? keystoreFix(secret.problem) : "set it before the start";
    return yield* refuse`${place}: ${secret.problem} -> ${fix}`;
  }
  const address = isKeystore ? keystoreAddress(secret.value) : accountOfKey(secret.value);
  if (address === undefined && stated === undefined) {
    const { is, fix } = isKeystore ? noKeystore(secret.value) : { is: "no private key: 64 hexadecimal digits" };
    return yield* refuse`${place}: this is ${is} -> ${fix}`;
  }
  if (address !== undefined && stated !== undefined && address !== stated)
    yield at`${path}.address: the keystore file is of another account: ${address}`;
  return stated ?? address;
}

/** What a file is that says no address. */
function noKeystore(text: string): { readonly is: string; readonly fix?: string } {
  return /"crypto"\s*:/i.test(text)
    ? { is: "no Web3 keystore with an address", fix: "state the wallet's address next to it" }
    : { is: "no Web3 keystore", fix: "name the keystore's file" };
}

/** A new wallet helps nobody whose keystore is there. */
function keystoreFix(problem: string): string {
  if (problem.includes("permission denied")) return "run this as the user that the daemon runs as, who may read it";
  const isThere = / is (?:no|a|empty)\b/.test(problem);
  return isThere
    ? "name the keystore's file"
    : "name the right file; or create a wallet with: swapd wallet new, or state its address here";
}

function keystoreAddress(text: string): Address | undefined {
  const address = /"address"\s*:\s*"(?:0x)?([0-9a-fA-F]{40})"/.exec(text)?.[1];
  return address === undefined ? undefined : parseAddress(`0x${address}`);
}

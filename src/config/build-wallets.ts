import { computeAddress } from "ethers";
import { type Address, parseAddress } from "../domain/money/address.ts";
import type { KeySource, WalletConfiguration } from "./configuration.ts";
import { resolveSecret } from "./files.ts";
import type { Problem } from "./problem.ts";
import { keySource } from "./references.ts";
import type { KeyFields, MainFile } from "./schemas/main-schema.ts";
import { type Path, problemAt, type Source } from "./source.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What the rule for raw keys depends on. */
export interface RawKeyRule {
  readonly allowed: boolean;
}

/**
 * The wallets with their addresses. An address is known without the password: a keystore file names it, and the
 * configuration may say it. A raw key is looked up to compute its address, and dropped again.
 */
export function buildWallets(
  source: Source,
  fields: MainFile["wallets"],
  from: { env: Environment; rawKeys: RawKeyRule },
  problems: Problem[],
): Map<string, WalletConfiguration> {
  const wallets = new Map<string, WalletConfiguration>();
  if (Object.keys(fields).length === 0) {
    problems.push(problemAt(source, ["wallets"], "needs at least one wallet", "create one with: swapd wallet new"));
  }
  for (const [name, entry] of Object.entries(fields)) {
    const path = ["wallets", name];
    const key = buildKeySource(source, path, { fields: entry, rawKeys: from.rawKeys }, problems);
    const stated = "keystore" in entry ? entry.address : undefined;
    const address = key === undefined ? undefined : findAddress(source, path, { key, stated, env: from.env }, problems);
    if (key === undefined || address === undefined) continue;
    const twin = [...wallets.values()].find((wallet) => wallet.address === address);
    if (twin === undefined) wallets.set(name, { name, address, key, delegate: entry.delegate });
    else problems.push(problemAt(source, path, `is the same account as "${twin.name}"`, "name each account once"));
  }
  return wallets;
}

/** Where a key is, when the rule for raw keys admits it. */
export function buildKeySource(
  source: Source,
  path: Path,
  from: { fields: KeyFields; rawKeys: RawKeyRule },
  problems: Problem[],
): KeySource | undefined {
  const key = keySource(source, from.fields);
  if (key.kind === "keystore") return key;
  if ("file" in key.privateKey) {
    const suggestion = "encrypt it: swapd wallet import, then keystore and password";
    problems.push(problemAt(source, [...path, "privateKey"], "a raw key is never read from a file", suggestion));
    return undefined;
  }
  if (from.rawKeys.allowed) return key;
  const message = "a raw key is accepted in the sandbox only, or with the flag --allow-raw-key";
  problems.push(
    problemAt(source, [...path, "privateKey"], message, "encrypt it: swapd wallet import, then keystore and password"),
  );
  return undefined;
}

function findAddress(
  source: Source,
  path: Path,
  from: { key: KeySource; stated: Address | undefined; env: Environment },
  problems: Problem[],
): Address | undefined {
  const { key, stated, env } = from;
  const reference = key.kind === "keystore" ? key.keystore : key.privateKey;
  const at = [...path, key.kind === "keystore" ? "keystore" : "privateKey"];
  const secret = resolveSecret(reference, env);
  if (!secret.ok) {
    if (stated !== undefined) return stated;
    const suggestion =
      key.kind === "keystore"
        ? "create a wallet with: swapd wallet new, or state its address here"
        : "set it before the start";
    problems.push(problemAt(source, at, secret.problem, suggestion));
    return undefined;
  }
  const address = key.kind === "keystore" ? keystoreAddress(secret.value) : rawKeyAddress(secret.value);
  if (address === undefined && stated === undefined) {
    const message =
      key.kind === "keystore"
        ? "this is no Web3 keystore with an address"
        : "this is no private key: 64 hexadecimal digits";
    problems.push(
      problemAt(source, at, message, key.kind === "keystore" ? "state the wallet's address beside it" : undefined),
    );
  }
  if (address !== undefined && stated !== undefined && address !== stated) {
    problems.push(problemAt(source, [...path, "address"], `the keystore file is of another account: ${address}`));
  }
  return stated ?? address;
}

function keystoreAddress(text: string): Address | undefined {
  const address = /"address"\s*:\s*"(?:0x)?([0-9a-fA-F]{40})"/.exec(text)?.[1];
  return address === undefined ? undefined : parseAddress(`0x${address}`);
}

function rawKeyAddress(text: string): Address | undefined {
  const digits = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text.trim())?.[1];
  if (digits === undefined) return undefined;
  try {
    return parseAddress(computeAddress(`0x${digits}`));
  } catch {
    // Zero, or beyond the order of the curve. The library's error text holds the key, so nothing of it is kept.
    return undefined;
  }
}

import { computeAddress, dataSlice, id } from "ethers";
import { type Address, parseAddress, toAddress } from "../domain/money/address.ts";
import { at, type Complaint, type Found, type Part, type Path, refuse } from "./complaint.ts";
import type { KeySource, WalletConfiguration } from "./configuration.ts";
import { resolveFrom, resolveSecret } from "./files.ts";
import { keySource } from "./references.ts";
import type { MainFile } from "./schemas/main-schema.ts";
import type { KeyFields } from "./schemas/wallet-schema.ts";
import type { Source } from "./source.ts";

/** What wallets depend on besides the files. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly allowsRawKeys: boolean;
}

/**
 * The wallets with their addresses. An address is known without the password: a keystore file names it, and the
 * configuration may state it. A raw key is read to compute its address, and dropped again.
 */
export function* buildWallets(
  source: Source,
  fields: MainFile["wallets"],
  around: Surroundings,
): Found<ReadonlyMap<string, WalletConfiguration>> {
  const wallets = new Map<string, WalletConfiguration>();
  if (Object.keys(fields).length === 0)
    yield at`wallets: needs at least one wallet -> create one with: swapd wallet new`;
  for (const [name, entry] of Object.entries(fields)) {
    const path = ["wallets", name];
    const found = yield* buildWallet(source, path, { entry, around });
    if (found === undefined) continue;
    const { address } = found;
    const twin = [...wallets.values()].find((wallet) => wallet.address === address);
    if (twin === undefined) wallets.set(name, { name, ...found });
    else yield at`${path}: is the same account as "${twin.name}" -> name each account once`;
  }
  return wallets;
}

type WalletFields = MainFile["wallets"][string];

function* buildWallet(
  source: Source,
  path: Path,
  { entry, around }: { readonly entry: WalletFields; readonly around: Surroundings },
): Part<Omit<WalletConfiguration, "name">> {
  if ("safe" in entry) return buildTreasury(source, entry);
  if ("paper" in entry) return { key: undefined, address: entry.address ?? paperAddress(path), delegate: undefined };
  const { delegate } = entry;
  if (!("keystore" in entry || "privateKey" in entry)) return { key: undefined, address: entry.address, delegate };
  const key = yield* buildKeySource(source, path, entry, around);
  if (key === undefined) return undefined;
  const address = yield* findAddress(path, key, "keystore" in entry ? entry.address : undefined, around);
  return address && { key, address, delegate };
}

function buildTreasury(
  source: Source,
  { safe, proposals }: Extract<WalletFields, { safe: Address }>,
): Omit<WalletConfiguration, "name"> {
  const folder = resolveFrom(source.file, proposals.folder);
  return { key: undefined, address: safe, delegate: undefined, proposals: { kind: "folder", folder } };
}

/** An address that nobody has the key of: made of the wallet's name, so that it stays the same. */
function paperAddress(path: Path): Address {
  return toAddress(dataSlice(id(`swapd on paper: ${path.join(".")}`), 12));
}

/** Nothing can be signed for an account of which only the address is known. */
export function* checkSigners(wallets: Iterable<WalletConfiguration>): Iterable<Complaint> {
  for (const { name, key, paper, proposals } of wallets) {
    if (key !== undefined || proposals !== undefined) continue;
    const fix =
      "give it a key (swapd init asks for one; or swapd wallet new or import, then name keystore and password), or stay with mode: paper";
    const what = paper === undefined ? "is only watched" : "is on paper";
    yield at`wallets.${name}: this account ${what}, and the mode is live -> ${fix}`;
  }
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
  if (key.kind === "keystore") return key;
  if ("file" in key.privateKey)
    return yield* refuse`${path}.privateKey: a raw key is never read from a file -> ${ENCRYPT}`;
  if (allowsRawKeys) return key;
  return yield* refuse`${path}.privateKey: a raw key is accepted in the sandbox only, or with the flag --allow-raw-key -> ${ENCRYPT}`;
}

function* findAddress(path: Path, key: KeySource, stated: Address | undefined, { env }: Surroundings): Part<Address> {
  const isKeystore = key.kind === "keystore";
  const place = [...path, isKeystore ? "keystore" : "privateKey"];
  const secret = resolveSecret(isKeystore ? key.keystore : key.privateKey, env);
  if (!secret.ok) {
    if (stated !== undefined) return stated;
    const fix = isKeystore
      ? "create a wallet with: swapd wallet new, or state its address here"
      : "set it before the start";
    return yield* refuse`${place}: ${secret.problem} -> ${fix}`;
  }
  const address = isKeystore ? keystoreAddress(secret.value) : rawKeyAddress(secret.value);
  if (address === undefined && stated === undefined) {
    if (!isKeystore) return yield* refuse`${place}: this is no private key: 64 hexadecimal digits`;
    return yield* refuse`${place}: this is no Web3 keystore with an address -> state the wallet's address next to it`;
  }
  if (address !== undefined && stated !== undefined && address !== stated)
    yield at`${path}.address: the keystore file is of another account: ${address}`;
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
    // Zero, or beyond the order of the curve. The library's error text contains the key, so nothing of it is kept.
    return undefined;
  }
}

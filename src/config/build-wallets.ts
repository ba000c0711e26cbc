import { dataSlice, id } from "ethers";
import { type Address, toAddress } from "../domain/money/address.ts";
import { buildKeySource, findAddress, type Surroundings } from "./build-key.ts";
import { buildProposals } from "./build-proposals.ts";
import { at, type Complaint, type Found, type Part, type Path } from "./complaint.ts";
import type { WalletConfiguration } from "./configuration.ts";
import type { MainFile } from "./schemas/main-schema.ts";
import type { Source } from "./source.ts";

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
  yield* checkDelegates(wallets);
  return wallets;
}

/** A key that may spend something has power: what it signs is worth more than a proposal. */
function* checkDelegates(wallets: ReadonlyMap<string, WalletConfiguration>): Iterable<Complaint> {
  for (const { name, proposals } of wallets.values()) {
    const delegate = proposals?.service?.delegate.address;
    const twin = [...wallets.values()].find(({ address }) => address === delegate);
    if (twin === undefined) continue;
    const path = ["wallets", name, "proposals", "service", "delegate"];
    yield at`${path}: is the account of the wallet "${twin.name}", and a delegate has no power over anything -> make a key for it alone: swapd wallet new`;
  }
}

type WalletFields = MainFile["wallets"][string];

function* buildWallet(
  source: Source,
  path: Path,
  { entry, around }: { readonly entry: WalletFields; readonly around: Surroundings },
): Part<Omit<WalletConfiguration, "name">> {
  if ("safe" in entry) return yield* buildTreasury(source, path, { fields: entry, around });
  if ("paper" in entry) return { key: undefined, address: entry.address ?? paperAddress(path), delegate: undefined };
  const { delegate } = entry;
  if (!("keystore" in entry || "privateKey" in entry || "signer" in entry))
    return { key: undefined, address: entry.address, delegate };
  const key = yield* buildKeySource(source, path, entry, around);
  if (key === undefined) return undefined;
  const address = yield* findAddress(path, key, "keystore" in entry ? entry.address : undefined, around);
  return address && { key, address, delegate };
}

function* buildTreasury(
  source: Source,
  path: Path,
  { fields, around }: { readonly fields: Extract<WalletFields, { safe: Address }>; readonly around: Surroundings },
): Part<Omit<WalletConfiguration, "name">> {
  const proposals = yield* buildProposals(source, [...path, "proposals"], { fields: fields.proposals, around });
  return proposals && { key: undefined, address: fields.safe, delegate: undefined, proposals };
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

import type { StatedContracts } from "../domain/guard/swap-contracts.ts";
import type { Address } from "../domain/money/address.ts";
import { didYouMean } from "./closest.ts";
import { each, type Found, type Part, type Path, refuse } from "./complaint.ts";
import type { TokenConfiguration, WalletConfiguration } from "./configuration.ts";
import { address } from "./fields.ts";

/** The tokens of the main file, by symbol; `names` also has the broken ones: their problem is already reported. */
export interface KnownTokens {
  readonly tokens: ReadonlyMap<string, TokenConfiguration>;
  readonly tokenNames: readonly string[];
}

/** The wallets of the main file, and the names also of those that are broken. */
export interface KnownWallets {
  readonly wallets: ReadonlyMap<string, WalletConfiguration>;
  readonly walletNames: readonly string[];
}

/** What may be traded: the tokens that the policy lists, or all of the main file. */
export function* buildAllowedTokens(
  listed: readonly string[] | undefined,
  { tokens, tokenNames: names }: KnownTokens,
): Found<readonly Address[]> {
  if (listed === undefined) return [...tokens.values()].map(({ token }) => token.address);
  return yield* each(listed, function* (text, index) {
    const path = ["tokens", index];
    const token = tokens.get(text)?.token;
    if (token !== undefined || names.includes(text)) return token?.address;
    if (text.startsWith("0x")) return yield* parseListed(path, text);
    if (names.length === 0 || tokens.size === 0) return undefined;
    const fix = didYouMean(
      text,
      tokens.keys(),
      `tokens are ${[...tokens.keys()].join(", ")}; write an address in quotes`,
    );
    return yield* refuse`${path}: "${text}" is neither a token of the main file nor an address -> ${fix}`;
  });
}

/** The contracts that may be approved: those that the policy lists, or the pinned ones alone. */
export function* buildSpenders(
  listed: readonly string[] | undefined,
  pinned: readonly StatedContracts[],
): Found<readonly Address[]> {
  if (listed === undefined) {
    const all = pinned.flatMap((contracts) => Object.values(contracts));
    return [...new Set(all.filter((address) => address !== undefined))];
  }
  return yield* each(listed, (text, index) => parseListed(["spenders", index], text));
}

/** Someone who may receive: a wallet by name, or an address. */
export function* findRecipient(path: Path, text: string, { wallets, walletNames: names }: KnownWallets): Part<Address> {
  const wallet = wallets.get(text);
  if (wallet !== undefined || names.includes(text)) return wallet?.address;
  if (text.startsWith("0x")) return yield* parseListed(path, text);
  if (names.length === 0) return undefined;
  const fix = didYouMean(text, names, `wallets are ${names.join(", ")}; write an address in quotes`);
  return yield* refuse`${path}: "${text}" is neither a wallet nor an address -> ${fix}`;
}

function* parseListed(path: Path, text: string): Part<Address> {
  const parsed = address("an address").safeParse(text);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const fix = issue?.code === "custom" ? String(issue.params?.suggestion) : undefined;
  return yield* refuse`${path}: ${issue?.message ?? "is no address"} -> ${fix}`;
}

import type { Asset } from "../../domain/books/entry.ts";
import type { Address } from "../../domain/money/address.ts";

/** What a format takes for the name of an asset. */
export interface NameRules {
  /** plain text that means only itself there */
  readonly plain: RegExp;
  /** in words, for a name that the owner gave and that is not plain */
  readonly plainInWords: string;
  /** names that mean something else there, in capital letters */
  readonly reserved: ReadonlySet<string>;
  /** what stands for an asset without a plain name of its own */
  fromAddress(address: Address): string;
}

/** Names by contract, or what is wrong with those that were given. */
export type AssetNames =
  | { readonly ok: true; readonly names: ReadonlyMap<Address, string> }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Names each asset once. A symbol is the word of a token, and no identity: one that is not plain, that means something
 * else or that two contracts claim gives way to the contract's address. What the owner gave goes before.
 */
export function nameAssets(
  assets: readonly Asset[],
  given: ReadonlyMap<Address, string>,
  rules: NameRules,
): AssetNames {
  const symbols = new Map(assets.map(({ address, symbol }) => [address, symbol]));
  const isUsable = (name: string): boolean => rules.plain.test(name) && !rules.reserved.has(name.toUpperCase());
  const problems = [...given].flatMap(([address, name]) =>
    isUsable(name)
      ? []
      : [`${JSON.stringify(name)} for ${address} cannot be a name there: it takes ${rules.plainInWords}`],
  );
  const wanted = new Map(
    [...symbols].map(([address, symbol]) => [address, given.get(address) ?? (isUsable(symbol) ? symbol : undefined)]),
  );
  const claims = Map.groupBy(wanted, ([, name]) => name?.toUpperCase());
  const names = new Map<Address, string>();
  for (const [address, name] of wanted) {
    const rivals = (claims.get(name?.toUpperCase()) ?? []).map(([other]) => other);
    const isGiven = given.has(address);
    const others = rivals.filter((other) => other !== address && given.has(other) === isGiven);
    if (name !== undefined && isGiven && others.length > 0)
      problems.push(`${JSON.stringify(name)} is given to ${address} and to ${others.join(", ")}: each needs its own`);
    const isOurs = name !== undefined && (isGiven || rivals.length === 1);
    names.set(address, isOurs ? name : rules.fromAddress(address));
  }
  for (const [name, same] of Map.groupBy(names, ([, name]) => name.toUpperCase()))
    if (same.length > 1 && problems.length === 0)
      problems.push(`${same.map(([address]) => address).join(" and ")} would both be ${name}: give one of them a name`);
  return problems.length === 0 ? { ok: true, names } : { ok: false, problems };
}

/** Codes of states' currencies: in a tax program a token of that name would be that money. */
const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));

/** Tax programs look names up in lists of their own, and spreadsheets read formulas. */
export const PLAIN_WORDS: NameRules = {
  plain: /^(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9.-]{0,19}$/,
  plainInWords: "up to 20 letters, digits, points and hyphens, a letter among them, and no currency of a state",
  reserved: CURRENCIES,
  fromAddress: (address) => address,
};

/** Our own tables. */
export const TABLE_WORDS: NameRules = { ...PLAIN_WORDS, reserved: new Set() };

/** Values stand in USD in ledgers, and what nobody knows in UNKNOWN. */
const LEDGER_RESERVED = new Set([...CURRENCIES, "UNKNOWN"]);

/** ledger reads the same journal: these are operators there, and a small h, m or s is a time. */
const LEDGER_OWN = ["AND", "DIV", "ELSE", "FALSE", "IF", "NOT", "OR", "TRUE"];

export const HLEDGER_WORDS: NameRules = {
  ...PLAIN_WORDS,
  plain: /^(?![hms]$)(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9.-]{0,19}$/,
  plainInWords: `${PLAIN_WORDS.plainInWords}, and none of ledger's own words (true, or, h)`,
  reserved: new Set([...LEDGER_RESERVED, ...LEDGER_OWN]),
};

/** Of beancount 2: one letter alone is a flag there, and three words are values. */
export const BEANCOUNT_WORDS: NameRules = {
  plain: /^[A-Z][A-Z0-9'._-]{0,22}[A-Z0-9]$/,
  plainInWords:
    "2 to 24 capital letters, digits and ' . _ -, a letter first and a letter or digit last, and not TRUE, FALSE or NULL",
  reserved: new Set([...LEDGER_RESERVED, "TRUE", "FALSE", "NULL"]),
  // Both ends: addresses are made to begin with many zeros.
  fromAddress: (address) => `T${address.slice(2, 13)}${address.slice(-12)}`.toUpperCase(),
};

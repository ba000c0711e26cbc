import { type Address, NATIVE_TOKEN, parseAddress } from "../../domain/money/address.ts";
import type { Clock } from "../../ports/clock.ts";
import type { NetworkOptions } from "../options.ts";
import type { Snapshot, Snapshots } from "../pools/snapshots.ts";
import type { Tokens } from "../quotes/tokens.ts";
import { createAddressMemory } from "./address-memory.ts";
import { nativeFacts, readDollarPrice, readTokenFacts, type TokenFacts } from "./token-facts.ts";

/** A token as the interface shows it. */
export interface TokenEntry extends TokenFacts {
  /** whether the operator lists it */
  readonly isListed: boolean;
  /** whether a signed EIP-2612 permit works */
  readonly hasPermit: boolean;
  /** decimal text; null where no feed has a fresh price */
  readonly usdPrice: string | null;
}

export interface TokenSearch {
  /** texts or addresses; none, or only empty ones, is everything that is listed */
  readonly values: readonly string[];
  /** whole names and symbols only */
  readonly exact: boolean;
  readonly exclude: readonly Address[];
}

/** The tokens that the service can know of. */
export interface TokenList {
  readonly addresses: readonly Address[];
  /** @returns undefined when the address is no token */
  token(address: Address): Promise<TokenEntry | undefined>;
  /** Listed tokens in their order, then those that were asked for by address. */
  search(search: TokenSearch): Promise<readonly TokenEntry[]>;
}

/** A token behind a proxy can get another name. */
const FACTS_FOR_MS = 10 * 60_000;

export function createTokenList(
  network: Pick<NetworkOptions, "listedTokens" | "nativeSymbol">,
  { snapshots, tokens, clock }: { snapshots: Snapshots; tokens: Tokens; clock: Clock },
): TokenList {
  const listed = new Map(network.listedTokens.map((token) => [token.address, token]));
  /** What is no token is asked again. */
  const remembered = createAddressMemory<TokenFacts | undefined>(clock, (facts) => (facts ? FACTS_FOR_MS : 0));

  async function factsOf(address: Address, snapshot: Snapshot): Promise<TokenFacts | undefined> {
    if (address === NATIVE_TOKEN) return nativeFacts({ address, feed: undefined }, network.nativeSymbol);
    return remembered(address, () => readTokenFacts(address, snapshot.read));
  }

  async function entryOf(facts: TokenFacts, snapshot: Snapshot): Promise<TokenEntry> {
    const { address } = facts;
    const token = listed.get(address);
    const at = { read: snapshot.read, timestamp: snapshot.head.timestamp };
    const [usdPrice, support] = await Promise.all([
      readDollarPrice(token?.feed, at),
      address === NATIVE_TOKEN ? undefined : tokens.permitSupport(address),
    ]);
    return { ...facts, isListed: token !== undefined, hasPermit: support?.kind === "eip-2612", usdPrice };
  }

  return {
    addresses: [...listed.keys()],
    async token(address) {
      const snapshot = await snapshots.current();
      const facts = await factsOf(address, snapshot);
      return facts === undefined ? undefined : await entryOf(facts, snapshot);
    },
    async search(search) {
      const snapshot = await snapshots.current();
      const values = search.values.map((value) => value.trim()).filter((value) => value !== "");
      const asked = values.map(parseAddress).filter((address) => address !== undefined);
      const addresses = [...new Set([...listed.keys(), ...asked])].filter((each) => !search.exclude.includes(each));
      const facts = await Promise.all(addresses.map((address) => factsOf(address, snapshot)));
      const found = facts
        .filter((each) => each !== undefined)
        .filter((each) => values.length === 0 || asked.includes(each.address) || matches(each, values, search.exact));
      return await Promise.all(found.map((each) => entryOf(each, snapshot)));
    },
  };
}

/** Texts are compared without their case. */
function matches({ name, symbol }: TokenFacts, values: readonly string[], exact: boolean): boolean {
  const texts = [name.toLowerCase(), symbol.toLowerCase()];
  return values.some((value) => {
    const wanted = value.toLowerCase();
    return texts.some((text) => (exact ? text === wanted : text.includes(wanted)));
  });
}

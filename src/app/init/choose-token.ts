import { getAddress } from "ethers";
import { closest } from "../../config/closest.ts";
import { type Address, parseAddress } from "../../domain/money/address.ts";
import type { UsdPrice } from "../../domain/money/price.ts";
import type { BookedNetwork } from "../../networks/network.ts";
import { lookAtToken, symbolAt } from "./look-at-chain.ts";
import { networkOf, pricedTokens, type Session, withDraft } from "./session.ts";

/** A token of the network's book, with what the chain says of it. */
export interface Chosen {
  readonly symbol: string;
  readonly says: readonly string[];
  readonly usd: UsdPrice | undefined;
}

/**
 * Finds the token that an answer means: a symbol of the network's book, or an address of one. A contract that only calls
 * itself like one of them is refused: anybody can give his token any name.
 */
export async function chooseToken(session: Session, text: string): Promise<Chosen | { readonly problem: string }> {
  const network = networkOf(session);
  if (network === undefined) return { problem: "the network is not known, and with it no token" };
  const address = parseAddress(text);
  const symbol = address === undefined ? text : symbolOf(network, address);
  if (symbol === undefined && address !== undefined) return await foreign(session, network, address);
  const problem = symbol === undefined ? "no token" : problemOf(network, symbol);
  if (symbol === undefined || problem !== undefined) return { problem: problem ?? "no token" };
  return await described(session, network, symbol);
}

function symbolOf(network: BookedNetwork, address: Address): string | undefined {
  return [...network.tokens].find(([, token]) => token.address === address)?.[0];
}

function problemOf(network: BookedNetwork, symbol: string): string | undefined {
  if (symbol === network.nativeSymbol) return undefined;
  const token = network.tokens.get(symbol);
  const priced = pricedTokens(network).join(", ");
  if (token === undefined) {
    const known = [...network.tokens.keys(), network.nativeSymbol];
    const meant = known.find((one) => one.toLowerCase() === symbol.toLowerCase()) ?? closest(symbol, known);
    const fix = meant === undefined ? `there are ${priced}` : `did you mean ${meant}? There are ${priced}`;
    return `the network's book has no token ${JSON.stringify(symbol)}: ${fix}`;
  }
  if (token.feed !== undefined) return undefined;
  const twin = token.twinOf === undefined ? "" : `, which is a bridge's own token and not ${token.twinOf}`;
  return `no feed prices ${symbol}${twin}, and without a price nothing is traded: there are ${priced}`;
}

async function foreign(session: Session, network: BookedNetwork, address: Address): Promise<{ problem: string }> {
  const shown = getAddress(address);
  const priced = pricedTokens(network).join(", ");
  const byHand = `init knows the tokens that a feed prices (${priced}); another one is added to swapd.yaml by hand, with its feed`;
  if (session.isOffline) return { problem: `${shown} is no token of the network's book: ${byHand}` };
  const said = await withDraft(session, {}, async (loaded) => {
    return loaded.ok ? await symbolAt(loaded.configuration, session.runtime, address) : { symbol: undefined };
  });
  if ("problem" in said) return said;
  const { symbol } = said;
  const twin = [...network.tokens].find(([one]) => one.toLowerCase() === symbol?.toLowerCase());
  if (twin === undefined)
    return {
      problem: `${shown} ${symbol === undefined ? "does not say its name" : `calls itself ${JSON.stringify(symbol)}`}: ${byHand}`,
    };
  const [name, { address: right }] = twin;
  return {
    problem: `${shown} calls itself ${JSON.stringify(symbol)} and is another token: ${name} of this network is ${getAddress(right)}; answer ${name}`,
  };
}

async function described(
  session: Session,
  network: BookedNetwork,
  symbol: string,
): Promise<Chosen | { problem: string }> {
  const token = network.tokens.get(symbol);
  const place =
    token === undefined
      ? `${symbol} is the native coin`
      : `${symbol} is ${getAddress(token.address)}, ${token.decimals} decimals`;
  if (session.isOffline || token === undefined) return { symbol, says: [place], usd: undefined };
  const other = pricedTokens(network).find((one) => one !== symbol) ?? "";
  const said = await withDraft(session, { sell: `1 ${symbol}`, buy: other }, async (loaded) => {
    return loaded.ok ? await lookAtToken(loaded.configuration, session.runtime, symbol) : undefined;
  });
  if (said === undefined) return { symbol, says: [place], usd: undefined };
  if ("problem" in said) return said;
  return { symbol, says: [`${place}; ${said.words}`], usd: said.usd };
}

import { type Address, NATIVE_TOKEN } from "../domain/money/address.ts";
import type { Network, PriceFeed } from "../networks/network.ts";
import { NATIVE_DECIMALS } from "./build-native.ts";
import { at, type Found, type Part, refuse } from "./complaint.ts";
import type { TokenConfiguration } from "./configuration.ts";
import type { MainFile } from "./schemas/main-schema.ts";

type Fields = MainFile["tokens"][string];
type Tokens = Map<string, TokenConfiguration>;

/** The tokens by symbol, with the native coin among them. */
export function* buildTokens(
  fields: MainFile["tokens"],
  preset: Network,
): Found<ReadonlyMap<string, TokenConfiguration>> {
  const native = { symbol: preset.nativeSymbol, address: NATIVE_TOKEN, decimals: NATIVE_DECIMALS };
  const tokens: Tokens = new Map([
    [native.symbol, { token: native, feed: preset.nativeFeed, twap: undefined, peg: undefined }],
  ]);
  const named = new Map<Address, string>([[NATIVE_TOKEN, native.symbol]]);
  for (const [symbol, entry] of Object.entries(fields)) {
    const address = yield* findAddress(symbol, entry, preset);
    if (address === undefined) continue;
    const twin = named.get(address);
    if (twin !== undefined) {
      yield at`tokens.${symbol}.address: is the address of ${twin} too -> name each token once`;
      continue;
    }
    named.set(address, symbol);
    const known = [...preset.tokens.values()].find((candidate) => candidate.address === address);
    const { decimals, peg } = entry;
    if (known !== undefined && known.decimals !== decimals)
      yield at`tokens.${symbol}.decimals: this token has ${known.decimals} decimals, not ${decimals} -> write ${known.decimals}`;
    const feed = yield* buildFeed(symbol, entry.feed, known?.feed);
    tokens.set(symbol, { token: { symbol, address, decimals }, feed, twap: undefined, peg });
  }
  for (const [symbol, { twap }] of Object.entries(fields)) yield* addTwap(symbol, twap, tokens);
  return tokens;
}

function* findAddress(symbol: string, { address }: Fields, preset: Network): Part<Address> {
  if (symbol === "USD" || symbol === preset.nativeSymbol) {
    const meaning = symbol === "USD" ? "means dollars" : "is the native coin and is known already";
    return yield* refuse`tokens.${symbol}: "${symbol}" ${meaning} -> give the token another name`;
  }
  const known = [...preset.tokens.keys()].join(", ");
  const found = address === "preset" ? preset.tokens.get(symbol)?.address : address;
  if (found !== undefined) return found;
  return yield* refuse`tokens.${symbol}.address: the preset of this network knows no token "${symbol}" -> it knows ${known}`;
}

function* buildFeed(symbol: string, feed: Fields["feed"], known: PriceFeed | undefined): Part<PriceFeed> {
  if (feed === undefined) return undefined;
  if (feed !== "preset") return { address: feed.address, heartbeatSeconds: feed.heartbeat, marginSeconds: feed.margin };
  if (known === undefined)
    yield at`tokens.${symbol}.feed: the preset of this network has no price feed for this token's address -> write { address: "0x...", heartbeat: 1h }`;
  return known;
}

/**
 * Gives a token the pool of its time-weighted price, once all tokens are known. The dollars of the quote token come from
 * its feed, so that no pool is priced by another pool.
 */
function* addTwap(symbol: string, twap: Fields["twap"], tokens: Tokens): Found<undefined> {
  const configured = tokens.get(symbol);
  if (twap === undefined || configured === undefined) return undefined;
  const path = ["tokens", symbol, "twap", "quote"];
  const priced = [...tokens.values()].filter(({ feed, token }) => feed !== undefined && token.symbol !== symbol);
  const fix = `with a feed are ${priced.map(({ token }) => token.symbol).join(", ")}`;
  const quote = tokens.get(twap.quote);
  if (quote === undefined) return yield* refuse`${path}: the token "${twap.quote}" is not known -> ${fix}`;
  if (quote.token.symbol === symbol) return yield* refuse`${path}: ${symbol} cannot be priced in itself -> ${fix}`;
  if (quote.feed === undefined)
    return yield* refuse`${path}: ${twap.quote} has no feed, so its dollars are not known -> ${fix}`;
  const { pool, window: windowSeconds, minLiquidity: minLiquidityUsd } = twap;
  tokens.set(symbol, { ...configured, twap: { pool, windowSeconds, quote: quote.token, minLiquidityUsd } });
}

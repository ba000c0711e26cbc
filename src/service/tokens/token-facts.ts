import type { ReadWords } from "../../chain/at-block/batch-reader.ts";
import type { Address } from "../../domain/money/address.ts";
import { formatUnits } from "../../domain/money/amount.ts";
import { type DollarFeed, type ListedToken, NATIVE_DECIMALS } from "../options.ts";

/** What a token says of itself. */
export interface TokenFacts {
  readonly address: Address;
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
}

const SELECTOR = {
  /** name() */
  name: "0x06fdde03",
  /** symbol() */
  symbol: "0x95d89b41",
  /** decimals() */
  decimals: "0x313ce567",
  /** latestRoundData() */
  latestRoundData: "0xfeaf968c",
} as const;

/** A token with more is none: ten to the power of them is more than 256 bits hold. */
export const MAX_DECIMALS = 77n;
const WORD_BYTES = 32;
/** No list shows more of a name, and a token chooses its own. */
const MAX_TEXT_BYTES = 96;

/** @returns undefined when the address is no contract that says how many decimals it has */
export async function readTokenFacts(address: Address, read: ReadWords): Promise<TokenFacts | undefined> {
  const [name, symbol, decimals] = await Promise.all([
    readText(address, SELECTOR.name, read),
    readText(address, SELECTOR.symbol, read),
    read(address, SELECTOR.decimals, 1),
  ]);
  const places = decimals?.[0];
  if (places === undefined || places > MAX_DECIMALS) return undefined;
  return { address, name, symbol, decimals: Number(places) };
}

/** Texts as `string`, else as the `bytes32` that some old tokens have; a token without the view has the empty text. */
async function readText(address: Address, selector: `0x${string}`, read: ReadWords): Promise<string> {
  // A string of at least one character fills three words: where it begins, its length, its bytes.
  const [packed, single] = await Promise.all([read(address, selector, 3), read(address, selector, 1)]);
  if (packed === undefined) return single?.[0] === BigInt(WORD_BYTES) ? "" : textOf(single ?? [], WORD_BYTES);
  const [offset, length = 0n, ...bytes] = packed;
  if (offset !== BigInt(WORD_BYTES)) return textOf(packed.slice(0, 1), WORD_BYTES);
  const wanted = length > BigInt(MAX_TEXT_BYTES) ? MAX_TEXT_BYTES : Number(length);
  if (wanted <= WORD_BYTES) return textOf(bytes, wanted);
  const all = await read(address, selector, 2 + Math.ceil(wanted / WORD_BYTES));
  return textOf(all?.slice(2) ?? bytes, wanted);
}

/** Printable characters only: a name must not be able to move what is shown around it. */
function textOf(words: readonly bigint[], length: number): string {
  const hex = words.map((word) => word.toString(16).padStart(64, "0")).join("");
  const bytes = Buffer.from(hex, "hex").subarray(0, length);
  return bytes
    .toString("utf8")
    .replace(/[\p{C}\p{Zl}\p{Zp}\uFFFD]/gu, "")
    .trim();
}

/** What a feed says of its token: dollars, in units of ten to the power of minus `decimals`. */
export interface FeedPrice {
  readonly answer: bigint;
  readonly decimals: number;
}

/** A feed's price; undefined where there is none, or none that is fresh. */
export async function readFeed(
  feed: DollarFeed | undefined,
  at: { read: ReadWords; timestamp: number },
): Promise<FeedPrice | undefined> {
  if (feed === undefined) return undefined;
  const [round, decimals] = await Promise.all([
    at.read(feed.address, SELECTOR.latestRoundData, 5),
    at.read(feed.address, SELECTOR.decimals, 1),
  ]);
  const [, answer = 0n, , updatedAt = 0n] = round ?? [];
  const places = decimals?.[0] ?? MAX_DECIMALS + 1n;
  const isFresh = BigInt(at.timestamp) - updatedAt <= BigInt(feed.maxAgeSeconds);
  if (BigInt.asIntN(256, answer) <= 0n || places > MAX_DECIMALS || !isFresh) return undefined;
  return { answer, decimals: Number(places) };
}

/** A feed's price in dollars as decimal text; null where there is none, or none that is fresh. */
export async function readDollarPrice(
  feed: DollarFeed | undefined,
  at: { read: ReadWords; timestamp: number },
): Promise<string | null> {
  const price = await readFeed(feed, at);
  return price === undefined ? null : formatUnits(price.answer, price.decimals);
}

/** The native token, which no contract describes. */
export function nativeFacts(token: ListedToken, symbol: string): TokenFacts {
  return { address: token.address, name: symbol, symbol, decimals: NATIVE_DECIMALS };
}

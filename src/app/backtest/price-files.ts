import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { Configuration, TokenConfiguration } from "../../config/configuration.ts";
import { type Candle, type CandleSeries, candleAt, priceWithin } from "../../domain/backtest/candles.ts";
import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { mulDivDown } from "../../domain/money/amount.ts";
import { parseUsd, USD_DECIMALS, type UsdPrice } from "../../domain/money/price.ts";
import type { Token } from "../../domain/money/token.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { CandleFileError, type ReadCandles, readCandles } from "./read-candles.ts";

/** The prices of a backtest by token, and what is to be said of their files. */
export interface PriceSet {
  readonly series: ReadonlyMap<Address, CandleSeries>;
  /** what pools themselves ask, where files say it: fills are made at it, and nothing is decided by it */
  readonly pools: ReadonlyMap<Address, CandleSeries>;
  readonly notes: readonly string[];
  /** tokens that were taken for a dollar without a file */
  readonly taken: readonly string[];
  /** the instants that all files cover, Unix milliseconds */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly stepMs: number;
}

/** Prices that were read already, from a pool's events say. */
export interface ReadySeries {
  readonly base: Token;
  readonly quote: Token | "USD";
  readonly read: ReadCandles;
}

const MOST_BYTES = 512 * 1_024 * 1_024;
const WHOLE = 10n ** BigInt(USD_DECIMALS);

interface Source extends ReadySeries {
  readonly name: string;
}

/**
 * Reads what `--prices` and `--pool-prices` name. `BASE/QUOTE=FILE`, `BASE=FILE` (in dollars), `BASE=3000` (a price that never changes), or a
 * file alone whose name says it, as WETH_USDC-15m.csv does.
 * @param needed tokens that the strategies trade
 * @param pools what `--pool-prices` names
 * @param ready prices of a pool: fills are made at them, and they are the reference too where no file is of that token
 * @throws CommandFailure that says what is wrong, with lines, and how to write it
 */
export function readPrices(
  asked: readonly string[],
  configuration: Configuration,
  { needed, pools = [], ready = [] }: Needed,
): PriceSet {
  const { fixed, sources } = named(asked, configuration);
  const ofPools = named(pools, configuration);
  for (const one of ready) {
    const isPriced = fixed.has(one.base.address) || sources.some(({ base }) => base.address === one.base.address);
    (isPriced ? ofPools.sources : sources).push({ ...one, name: one.base.symbol });
  }
  if (sources.length === 0)
    throw usage("no candles: name a file, --prices WETH/USDC=weth-15m.csv, or a pool, --from-pool 0x...");
  const taken: string[] = [];
  const series = inDollars(sources, { fixed, configuration, taken });
  share(series, configuration);
  for (const token of needed) complete(series, token, { configuration, taken });
  const poolSeries = inDollars(ofPools.sources, { fixed: ofPools.fixed, configuration, taken, reference: series });
  share(poolSeries, configuration);
  const all = [...sources, ...ofPools.sources];
  const spans = all.map(({ read }) => spanOf(read));
  return {
    ...{ series, pools: poolSeries, taken: [...new Set(taken)], notes: all.flatMap(({ read }) => read.notes) },
    fromMs: Math.max(...spans.map(({ fromMs }) => fromMs)),
    untilMs: Math.min(...spans.map(({ untilMs }) => untilMs)),
    stepMs: Math.min(...sources.map(({ read }) => read.stepMs)),
  };
}

interface Needed {
  readonly needed: readonly Token[];
  readonly pools?: readonly string[];
  readonly ready?: readonly ReadySeries[];
}

/** Prices that never change, and those of files. */
function named(texts: readonly string[], configuration: Configuration) {
  const fixed = new Map<Address, UsdPrice>();
  const sources: Source[] = [];
  for (const text of texts) {
    const { name, value } = namedValue(text, configuration);
    const pair = pairOf(name, text, configuration);
    const usd = parseUsd(value);
    if (usd === 0n) throw usage(`${text}: a price is above zero`);
    if (usd === undefined) sources.push({ ...pair, name: basename(value), read: readFile(value) });
    else if (pair.quote === "USD") fixed.set(pair.base.address, usd);
    else throw usage(`${text}: a price that never changes is in dollars: ${pair.base.symbol}=${value}`);
  }
  return { fixed, sources };
}

function usage(message: string): CommandFailure {
  return new CommandFailure(EXIT.usage, message);
}

function readFile(file: string): ReadCandles {
  try {
    const { size } = statSync(file);
    if (size > MOST_BYTES) throw usage(`${file} has ${size} bytes; at most ${MOST_BYTES} are read`);
    return readCandles(basename(file), readFileSync(file, "utf8"));
  } catch (error) {
    if (error instanceof CandleFileError) throw new CommandFailure(EXIT.no, error.message);
    if (error instanceof CommandFailure || !(error instanceof Error) || !("code" in error)) throw error;
    const why = error.code === "ENOENT" ? "does not exist" : `cannot be read (${String(error.code)})`;
    throw new CommandFailure(EXIT.no, `${file} ${why}`);
  }
}

/**
 * A file without a name says by its own which pair it is of, as exchanges' clients name them: ETH_USDT-1h.csv. A token may
 * have a point in its name (USDC.e); what begins with one is a path.
 */
function namedValue(text: string, { tokens }: Configuration): { readonly name: string; readonly value: string } {
  const named = /^((?!\.)[^=/\\]+(?:\/[^=/\\]+)?)=(.+)$/.exec(text);
  if (named?.[1] !== undefined && named[2] !== undefined) return { name: named[1], value: named[2] };
  const [base = "", quote = ""] = basename(text)
    .replace(/\.[^.]*$/, "")
    .split(/[-_]/);
  const isPair = tokenNamed(base, tokens) !== undefined && /^[A-Za-z]/.test(quote);
  if (isPair) return { name: `${base}/${quote}`, value: text };
  throw usage(
    `${text}: it is not known which token this file prices: write --prices TOKEN/QUOTE=${text}, with tokens of the configuration (${[...tokens.keys()].join(", ")})`,
  );
}

function tokenNamed(name: string, tokens: Configuration["tokens"]): TokenConfiguration | undefined {
  const exact = tokens.get(name);
  if (exact !== undefined) return exact;
  const alike = [...tokens].filter(([symbol]) => symbol.toLowerCase() === name.toLowerCase());
  return alike.length === 1 ? alike[0]?.[1] : undefined;
}

function pairOf(name: string, text: string, { tokens, network }: Configuration): Omit<Source, "read" | "name"> {
  const [baseName = "", quoteName = "USD"] = name.split("/");
  const isCoin = baseName.toLowerCase() === network.nativeSymbol.toLowerCase();
  const coin = { symbol: network.nativeSymbol, address: NATIVE_TOKEN, decimals: 18 };
  const base = tokenNamed(baseName, tokens)?.token ?? (isCoin ? coin : undefined);
  const known = [...tokens.keys()].join(", ");
  if (base === undefined) throw usage(`${text}: ${baseName} is no token of the configuration; there are ${known}`);
  if (quoteName.toUpperCase() === "USD") return { base, quote: "USD" };
  const quote = tokenNamed(quoteName, tokens)?.token;
  if (quote !== undefined) return { base, quote };
  throw usage(
    `${text}: ${quoteName} is no token of the configuration (${known}); where it was worth a dollar, write ${base.symbol}/USD=`,
  );
}

interface Known {
  readonly configuration: Configuration;
  readonly taken: string[];
}

interface Pricing {
  readonly fixed: ReadonlyMap<Address, UsdPrice>;
  readonly reference?: Map<Address, CandleSeries>;
}

/** Each file once all files that price its quote are in dollars: the reference's prices, where there is one already. */
function inDollars(
  sources: readonly Source[],
  { fixed, configuration, taken, reference }: Known & Pricing,
): Map<Address, CandleSeries> {
  const series = new Map([...fixed].map(([token, usd]) => [token, always(usd)]));
  const known = reference ?? series;
  refuseTwice(sources, fixed);
  let left = sources;
  const isLeft = (token: Address): boolean =>
    reference === undefined && left.some(({ base }) => base.address === token);
  const isPending = ({ address }: Token): boolean => {
    if (known.has(address) || isLeft(address)) return !known.has(address);
    const twin = twinOf(address, configuration);
    return twin !== undefined && !known.has(twin) && isLeft(twin);
  };
  while (left.length > 0) {
    const next = left.find(({ quote }) => quote === "USD" || !isPending(quote));
    if (next === undefined) throw usage(inEachOther(left));
    const { base, quote, read } = next;
    series.set(base.address, quote === "USD" ? read : timesAll(read, priced(known, quote, { configuration, taken })));
    left = left.filter((one) => one !== next);
  }
  return series;
}

function refuseTwice(sources: readonly Source[], fixed: Pricing["fixed"]): void {
  const seen = new Set(fixed.keys());
  for (const { base, name } of sources) {
    if (seen.has(base.address)) throw usage(`${name}: ${base.symbol} is priced twice`);
    seen.add(base.address);
  }
}

function inEachOther(left: readonly Source[]): string {
  const [first] = left.map(({ base, quote }) => ({ base: base.symbol, quote: quote === "USD" ? quote : quote.symbol }));
  const names = left.map(({ base }) => base.symbol).join(", ");
  return `${names} are priced in each other alone: write one of them in dollars, --prices ${first?.base}/USD=FILE in the place of ${first?.base}/${first?.quote}`;
}

/** The coin and its wrapped token have one price, unless a file says otherwise. */
function twinOf(address: Address, { network }: Configuration): Address | undefined {
  if (address === NATIVE_TOKEN) return network.wrappedNative;
  return address === network.wrappedNative ? NATIVE_TOKEN : undefined;
}

function priced(series: Map<Address, CandleSeries>, token: Token, known: Known): CandleSeries {
  const twin = twinOf(token.address, known.configuration);
  const own = series.get(token.address) ?? (twin && series.get(twin));
  if (own !== undefined) return own;
  return complete(series, token, known);
}

function timesAll({ stepMs, candles }: ReadCandles, quote: CandleSeries): CandleSeries {
  return { stepMs, candles: candles.flatMap((candle) => times(candle, quote, stepMs)) };
}

/**
 * A candle in dollars: its close by what its quote was worth at its end, and the rest by what it was worth when it began.
 * Where the quote moved further than that, it lies between its open and its close at least.
 */
function times(candle: Candle, quote: CandleSeries, stepMs: number): readonly Candle[] {
  const { atMs } = candle;
  const begin = priceWithin(quote, atMs, "straight")?.usd;
  if (begin === undefined) return [];
  const end = worthAtEnd(quote, atMs + stepMs) ?? begin;
  if (begin === WHOLE && end === WHOLE) return [candle];
  const usd = (price: UsdPrice, worth: UsdPrice): UsdPrice => mulDivDown(price, worth, WHOLE) as UsdPrice;
  const [open, close] = [usd(candle.open, begin), usd(candle.close, end)];
  const [high, low] = [usd(candle.high, begin), usd(candle.low, begin)];
  return [{ atMs, open, high: high > close ? high : close, low: low < close ? low : close, close }];
}

/** What a quote was worth right before an instant; undefined in a gap. */
function worthAtEnd(quote: CandleSeries, endMs: number): UsdPrice | undefined {
  const last = candleAt(quote, endMs - 1);
  if (last !== undefined && last.atMs + quote.stepMs === endMs) return last.close;
  return priceWithin(quote, endMs - 1, "straight")?.usd;
}

function always(usd: UsdPrice): CandleSeries {
  return { stepMs: Number.MAX_SAFE_INTEGER, candles: [{ atMs: 0, open: usd, high: usd, low: usd, close: usd }] };
}

/** The coin and its wrapped token have one price. */
function share(series: Map<Address, CandleSeries>, { network }: Configuration): void {
  const found = series.get(network.wrappedNative) ?? series.get(NATIVE_TOKEN);
  if (found === undefined) return;
  for (const address of [network.wrappedNative, NATIVE_TOKEN]) if (!series.has(address)) series.set(address, found);
}

/** What should be worth a dollar is taken for one where no file says otherwise, and that is said. */
function complete(series: Map<Address, CandleSeries>, token: Token, { configuration, taken }: Known): CandleSeries {
  const known = series.get(token.address);
  if (known !== undefined) return known;
  const found = [...configuration.tokens.values()].find((one) => one.token.address === token.address);
  if (found?.peg !== "USD") {
    const { symbol } = token;
    throw usage(
      `there is no price of ${symbol}: add --prices ${symbol}/USD=FILE, a price that never changes (--prices ${symbol}=1), or \`peg: USD\` to the token in ${configuration.file}`,
    );
  }
  const dollar = always(WHOLE as UsdPrice);
  series.set(token.address, dollar);
  taken.push(token.symbol);
  return dollar;
}

function spanOf({ candles, stepMs }: ReadCandles): { readonly fromMs: number; readonly untilMs: number } {
  return { fromMs: candles[0]?.atMs ?? 0, untilMs: (candles.at(-1)?.atMs ?? 0) + stepMs };
}

import type { Configuration } from "../../../config/configuration.ts";
import { type Address, NATIVE_TOKEN } from "../../../domain/money/address.ts";
import { formatUnits } from "../../../domain/money/amount.ts";
import { ONE_PPM } from "../../../domain/money/fraction.ts";
import { type UsdPrice, valueDown } from "../../../domain/money/price.ts";
import type { Token } from "../../../domain/money/token.ts";
import type { Band, BandRules, RebalanceSpec } from "../../../domain/strategy/rebalance-spec.ts";
import { dollarsOf, instantOrNull, moneyOf } from "./describe-money.ts";
import type { AnswerOf } from "./operations.ts";
import { type Held, unreadTokens } from "./read-held.ts";

type Portfolio = AnswerOf<"getPortfolio">;
type Weight = Portfolio["mixes"][number]["weights"][number];

/** What a portfolio is described from. */
export interface PortfolioParts {
  readonly configuration: Configuration;
  readonly known: ReadonlyMap<Address, Held>;
  /** what is the wallets' own of the native coin, which is not in `known`; missing where nobody knows it */
  readonly coins: ReadonlyMap<Address, Held>;
  /** what lies at addresses that mixes count, by strategy and token; a mix that is missing could not be read */
  readonly external: ReadonlyMap<string, ReadonlyMap<Address, bigint>>;
  /** dollars (1e-18) of one whole token */
  readonly prices: ReadonlyMap<Address, UsdPrice>;
  /** Unix milliseconds; undefined where no price is known */
  readonly pricedAtMs: number | undefined;
}

/** What the wallets have, and how the weights of mixes stand. */
export function describePortfolio(parts: PortfolioParts): Portfolio {
  const { configuration, known, coins } = parts;
  const { wallets, tokens, network } = configuration;
  const holdings = holdingsOf(parts);
  const values = holdings.flatMap(({ valueUsd }) => valueUsd ?? []);
  const total = holdings.reduce((sum, { value }) => sum + (value ?? 0n), 0n);
  const missing = holdings.filter(({ value, money }) => value === undefined && money.raw !== "0");
  const unread = [...wallets.values()].flatMap(({ address }) => [
    ...unreadTokens(known.get(address), tokens.values()),
    ...(coins.has(address) ? [] : [{ symbol: network.nativeSymbol }]),
  ]);
  return {
    holdings: holdings.map(({ value: _, ...holding }) => holding),
    totalUsd: values.length === 0 ? null : dollarsOf(total),
    missingPrices: [...new Set(missing.map(({ money }) => money.symbol))],
    missingBalances: [...new Set(unread.map(({ symbol }) => symbol))],
    pricedAt: instantOrNull(parts.pricedAtMs),
    mixes: configuration.strategies.flatMap(({ spec }) => {
      if (spec.kind !== "rebalance") return [];
      return [{ strategy: spec.id, weights: weightsOf(spec, parts) }];
    }),
  };
}

type Holding = Portfolio["holdings"][number] & { readonly value: bigint | undefined };

function holdingsOf({ configuration, known, coins, prices }: PortfolioParts): readonly Holding[] {
  const tokens = new Map([...configuration.tokens.values()].map(({ token }) => [token.address, token]));
  const wallets = [...configuration.wallets.values()];
  const read = wallets.flatMap(({ name, address }) =>
    [known.get(address), coins.get(address)].flatMap((held) => (held === undefined ? [] : [{ name, ...held }])),
  );
  return read.flatMap(({ name, block, balances }) =>
    [...balances].flatMap(([address, raw]) => {
      const token = tokens.get(address);
      if (token === undefined) return [];
      const usd = prices.get(address);
      const value = usd === undefined ? undefined : valueDown({ raw, decimals: token.decimals }, usd);
      return [
        {
          ...{ wallet: name, money: moneyOf(raw, token), block, value },
          priceUsd: usd === undefined ? null : dollarsOf(usd),
          valueUsd: value === undefined ? null : dollarsOf(value),
        },
      ];
    }),
  );
}

/** Of what is in the wallet, and of what lies elsewhere where the mix counts that. */
function weightsOf(spec: RebalanceSpec, parts: PortfolioParts): Weight[] {
  const { prices, external } = parts;
  const balances = balancesOf(spec, ownOf(spec, parts), external.get(spec.id));
  const held = spec.targets.map((target) => {
    const usd = prices.get(target.token.address);
    if (balances === undefined || usd === undefined) return { target, value: undefined };
    const forms = [target.token, ...(target.with ?? [])].map((form) => rawOf(balances, form, target.token));
    if (forms.some((raw) => raw === undefined)) return { target, value: undefined };
    const raw = forms.reduce<bigint>((sum, form) => sum + (form ?? 0n), 0n);
    return { target, value: valueDown({ raw, decimals: target.token.decimals }, usd) };
  });
  const total = held.reduce((sum, { value }) => sum + (value ?? 0n), 0n);
  const isWhole = total > 0n && held.every(({ value }) => value !== undefined);
  return held.map(({ target, value }) => {
    const { token, weight, soft, hard } = target;
    return {
      token: { symbol: token.symbol, address: token.address, decimals: token.decimals },
      weight: isWhole && value !== undefined ? percentOf((value * ONE_PPM) / total) : null,
      target: percentOf(weight),
      ...bandOf("soft", soft, weight, spec.bands),
      ...bandOf("hard", hard, weight, spec.bands),
    };
  });
}

/** The wallet's, and of the coin what the policy does not leave for gas. Undefined where nothing of the wallet is known. */
function ownOf({ wallet }: RebalanceSpec, parts: PortfolioParts): ReadonlyMap<Address, bigint> | undefined {
  const own = parts.known.get(wallet.address)?.balances;
  const coin = parts.coins.get(wallet.address)?.balances.get(NATIVE_TOKEN);
  if (own === undefined || coin === undefined) return own;
  const { gasReserve } = parts.configuration.policy;
  return new Map([...own, [NATIVE_TOKEN, coin > gasReserve ? coin - gasReserve : 0n]]);
}

/** The wallet's with what lies elsewhere: watched, or as the file says it. Undefined where a part of it is not known. */
function balancesOf(
  { external }: RebalanceSpec,
  own: ReadonlyMap<Address, bigint> | undefined,
  watched: ReadonlyMap<Address, bigint> | undefined,
): ReadonlyMap<Address, bigint> | undefined {
  if (own === undefined || external === undefined) return own;
  if (watched === undefined && external.watched.length > 0) return undefined;
  const sums = new Map(own);
  // What the wallet has of a token and nobody knows stays unknown, whatever lies elsewhere.
  const add = (address: Address, raw: bigint): void => {
    const before = sums.get(address);
    if (before !== undefined) sums.set(address, before + raw);
  };
  for (const [address, raw] of watched ?? []) add(address, raw);
  for (const { token, raw } of external.stated) add(token.address, raw);
  return sums;
}

/** The other form of a coin counts one for one. Undefined where it is not known. */
function rawOf(balances: ReadonlyMap<Address, bigint>, form: Token, as: Token): bigint | undefined {
  const raw = balances.get(form.address);
  if (raw === undefined) return undefined;
  return (raw * 10n ** BigInt(as.decimals)) / 10n ** BigInt(form.decimals);
}

type BandName = "soft" | "hard";

function bandOf<Name extends BandName>(name: Name, band: Band | undefined, weight: bigint, rules: BandRules | "none") {
  const width = band === undefined || rules === "none" ? undefined : widthOf(band, weight, rules.trigger);
  const low = width === undefined ? null : percentOf(weight > width ? weight - width : 0n);
  const high = width === undefined ? null : percentOf(weight + width > ONE_PPM ? ONE_PPM : weight + width);
  return { [`${name}Low`]: low, [`${name}High`]: high } as Record<`${Name}Low` | `${Name}High`, string | null>;
}

/** In parts per million of the whole; the exact comparison is the strategy's own. */
function widthOf({ absolute, relative }: Band, weight: bigint, trigger: BandRules["trigger"]): bigint {
  const ofWeight = relative === undefined ? undefined : (relative * weight) / ONE_PPM;
  if (absolute === undefined || ofWeight === undefined) return absolute ?? ofWeight ?? ONE_PPM;
  return absolute < ofWeight === (trigger === "any") ? absolute : ofWeight;
}

const PPM_DECIMALS_OF_PERCENT = 4;

function percentOf(ppm: bigint): string {
  return formatUnits(ppm, PPM_DECIMALS_OF_PERCENT);
}

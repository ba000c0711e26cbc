import { ChainReadError } from "../../../domain/chain-read-error.ts";
import { type Address, NATIVE_TOKEN } from "../../../domain/money/address.ts";
import type { UsdPrice } from "../../../domain/money/price.ts";
import { DAY_MS } from "../../../domain/time/durations.ts";
import type { Listing, Movement, SeenPrice } from "../../../ports/listing.ts";
import { type AllowancesSeen, allowancesOnChain } from "../../read-allowances.ts";
import { standingQuestion } from "../../read-standing.ts";
import type { ApiSources } from "./api-sources.ts";
import { describePortfolioHistory, describePrices, joinPrices, type Span } from "./describe-history.ts";
import {
  describeAllowances,
  describeAudits,
  describeProposals,
  describeServices,
  describeTransactions,
  describeWallets,
} from "./describe-outside.ts";
import { describePortfolio } from "./describe-portfolio.ts";
import type { Handlers } from "./handlers.ts";
import { inTime } from "./in-time.ts";
import { onceInAWhile } from "./once-in-a-while.ts";
import { readFills } from "./pages.ts";
import { ApiProblem } from "./problem.ts";
import { readExternal } from "./read-external.ts";
import { type Held, ownCoins, readHeld, withFills, withoutCoins } from "./read-held.ts";

type Answered =
  | "getPortfolio"
  | "getPortfolioHistory"
  | "getPrices"
  | "getServices"
  | "listWallets"
  | "listAllowances"
  | "listTransactions"
  | "listProposals"
  | "getAudit";

/** What is asked outside is asked at most so often, however many look. */
const OUTSIDE_EVERY_MS = 30_000;
/** What does not come so soon is answered as not known: the page itself waits for an answer for 30 seconds. */
const OUTSIDE_WITHIN_MS = 10_000;
/** So many of the newest swaps are looked through for prices that they were judged by. */
const SWAPS_WITH_PRICES = 2_000;
/** So many of the newest fills make the value over time. */
const MOST_MOVEMENTS = 20_000;
/** So many of the newest fills are compared with their quotes. */
const COMPARED_FILLS = 50;
/** What is known of wallets that nobody has read. */
const NONE: ReadonlyMap<Address, Held> = new Map();
/** So many audits are shown. */
const RECENT_AUDITS = 10;
/** Without a beginning of their own, charts go back so far. */
const USUAL_SPAN_MS = 30 * DAY_MS;

/** Answers what there is, what it was worth, and how the surroundings do. */
export function createMoneyHandlers(sources: ApiSources): Handlers<Answered> {
  const { reads, listing, clock } = sources;
  const bound = { clock, withinMs: OUTSIDE_WITHIN_MS };
  const pricesNow = onceInAWhile(() => readPrices(sources), { clock, maxAgeMs: OUTSIDE_EVERY_MS });
  const allowancesNow = onceInAWhile(() => readAllowances(sources), { clock, maxAgeMs: OUTSIDE_EVERY_MS });
  const { known, coinsNow, current } = holdingsOf(sources);
  const externalNow = onceInAWhile(() => readExternal(sources), { clock, maxAgeMs: OUTSIDE_EVERY_MS });
  return {
    getPortfolio: async () => {
      const [{ usd: prices, atMs: pricedAtMs }, held, coins, external] = await Promise.all([
        pricesNow(),
        known(),
        coinsNow(),
        inTime(externalNow(), new Map(), bound),
      ]);
      const configuration = sources.configuration();
      return describePortfolio({
        ...{ configuration, external, prices, pricedAtMs },
        known: await current(held),
        coins: await current(ownCoins(coins, configuration)),
      });
    },
    getPortfolioHistory: async ({ query }) => {
      const span = spanOf(query, clock.nowMs());
      const configuration = sources.configuration();
      const tokens = [...configuration.tokens.values()].map(({ token }) => token);
      const wallets = [...configuration.wallets.values()].map(({ address }) => address);
      const prices = new Map<Address, readonly SeenPrice[]>();
      for (const token of tokens) prices.set(token.address, await pricesOf(sources, token.address, 0));
      const movements = await listing.movements(MOST_MOVEMENTS);
      const isCut = movements.length === MOST_MOVEMENTS;
      const [held, coins] = await Promise.all([known(), coinsNow()]);
      const read = { known: held, coins: ownCoins(coins, configuration), movements, isCut, prices };
      return describePortfolioHistory({ wallets, tokens, ...read, span });
    },
    getPrices: async ({ id, query }) => {
      const token = sources.configuration().tokens.get(id)?.token;
      if (token === undefined) throw new ApiProblem("NOT_FOUND", `no configured token is called ${JSON.stringify(id)}`);
      const span = spanOf(query, clock.nowMs());
      return describePrices(token, await pricesOf(sources, token.address, span.sinceMs), span);
    },
    getServices: async () => {
      const { items: fills } = await readFills(listing, { limit: COMPARED_FILLS });
      return describeServices({
        ...{ configuration: sources.configuration(), endpoints: sources.endpoints(), fills },
        ...{ absence: sources.service.absence(), submit: sources.submitHosts },
      });
    },
    listWallets: async () => {
      const { halts } = await reads.transactions(1);
      const [held, coins] = await Promise.all([known(), coinsNow()]);
      const configuration = sources.configuration();
      return describeWallets({ configuration, known: await current(held), held: coins, halts });
    },
    listAllowances: async () => describeAllowances(await allowancesNow()),
    listTransactions: async ({ query: { limit } }) => describeTransactions((await reads.transactions(limit)).intents),
    listProposals: async () => describeProposals(await listing.proposals()),
    getAudit: async () => describeAudits(await listing.audits(RECENT_AUDITS)),
  };
}

/** What the wallets have, each part from where it is known. */
function holdingsOf(sources: ApiSources) {
  const { clock, listing } = sources;
  const bound = { clock, withinMs: OUTSIDE_WITHIN_MS };
  const heldNow = onceInAWhile(() => readHeld(sources), { clock, maxAgeMs: OUTSIDE_EVERY_MS });
  const readCoins = onceInAWhile(() => readHeld(sources, [NATIVE_TOKEN]), { clock, maxAgeMs: OUTSIDE_EVERY_MS });
  return {
    /** By the rows, of the wallets that they know; else by the chain. */
    known: async (): Promise<ReadonlyMap<Address, Held>> => {
      const rows = await knownOf(sources);
      const isMissing = [...sources.configuration().wallets.values()].some(({ address }) => !rows.has(address));
      return isMissing ? new Map([...withoutCoins(await inTime(heldNow(), NONE, bound)), ...rows]) : rows;
    },
    /** No rows know of the coin, and of a wallet that the chain did not tell it of, nobody does. */
    coinsNow: () => inTime(readCoins(), NONE, bound),
    current: async (held: ReadonlyMap<Address, Held>): Promise<ReadonlyMap<Address, Held>> =>
      withFills(held, await fillsAfter(listing, Math.min(...[...held.values()].map(({ block }) => block)))),
  };
}

/** What was recorded of a token's price. What wraps the coin is worth as much: mostly prices of that alone were recorded. */
async function pricesOf(
  { listing, configuration }: ApiSources,
  token: Address,
  sinceMs: number,
): Promise<readonly SeenPrice[]> {
  const same = token === NATIVE_TOKEN ? [token, configuration().network.wrappedNative] : [token];
  const bars = await Promise.all(same.map((one) => listing.priceBars(one, sinceMs)));
  const seen = await Promise.all(same.map((one) => listing.pricesSeen(one, SWAPS_WITH_PRICES)));
  return joinPrices(bars.flat(), seen.flat());
}

/** @throws ApiProblem where it ends before it begins */
function spanOf(
  {
    since,
    until,
    points,
  }: { readonly since?: string | undefined; readonly until?: string | undefined; readonly points: number },
  nowMs: number,
): Span {
  const untilMs = until === undefined ? nowMs : Date.parse(until);
  const sinceMs = since === undefined ? untilMs - USUAL_SPAN_MS : Date.parse(since);
  if (sinceMs >= untilMs) throw new ApiProblem("REQUEST_MALFORMED", "since: has to lie before until");
  return { sinceMs, untilMs, points };
}

async function knownOf({ reads, configuration, clock }: ApiSources): Promise<ReadonlyMap<Address, Held>> {
  const rows = await reads.status(standingQuestion(configuration(), clock.nowMs()));
  return rows.standing?.known ?? new Map();
}

/** So many of the newest fills are read at first: mostly there is none since the rows were compared with the chain. */
const FIRST_FILLS = 100;

/** The fills of later blocks, from the newest block down. */
async function fillsAfter(listing: Pick<Listing, "movements">, block: number): Promise<readonly Movement[]> {
  for (let limit = FIRST_FILLS; ; limit = Math.min(limit * 10, MOST_MOVEMENTS)) {
    const found = await listing.movements(limit);
    const isAll = found.length < limit || limit === MOST_MOVEMENTS || found.some((fill) => fill.block <= block);
    if (isAll) return found.filter((fill) => fill.block > block);
  }
}

/** Of each token that has a source; one without a price now, or in time, is missing. */
async function readPrices({ configuration, prices, clock }: ApiSources) {
  const usd = new Map<Address, UsdPrice>();
  const bound = { clock, withinMs: OUTSIDE_WITHIN_MS };
  const read = [...configuration().tokens.values()].map(async ({ token }) => {
    const price = await inTime(prices.price(token), undefined, bound);
    if (price !== undefined && !("missing" in price)) usd.set(token.address, price.usd);
  });
  await Promise.all(read);
  return { usd, atMs: usd.size === 0 ? undefined : clock.nowMs() };
}

/** @throws ApiProblem where the chain does not answer, or none of it is on the chain */
async function readAllowances(sources: ApiSources): Promise<AllowancesSeen & { readonly atMs: number }> {
  const { reads, chain, prices, clock, logger } = sources;
  const configuration = sources.configuration();
  if (configuration.mode === "paper") return { atMs: clock.nowMs(), allowances: [], unread: [] };
  try {
    const read = { approvals: reads.approvals, chain, prices };
    return { atMs: clock.nowMs(), ...(await allowancesOnChain(configuration, read, { skipsRefused: true })) };
  } catch (error) {
    if (!(error instanceof ChainReadError)) throw error;
    logger.warn({ error }, "allowances could not be read");
    throw new ApiProblem("OUTSIDE_AWAY", "the chain could not be read; check the RPC endpoints, and ask again");
  }
}

import type { Configuration } from "../config/configuration.ts";
import { ChainReadError } from "../domain/chain-read-error.ts";
import { type Address, NATIVE_TOKEN } from "../domain/money/address.ts";
import { formatUnits } from "../domain/money/amount.ts";
import { USD_DECIMALS, valueDown } from "../domain/money/price.ts";
import type { Token } from "../domain/money/token.ts";
import { withoutLentGas } from "../engine/lent-gas.ts";
import type { Chain } from "../ports/chain.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { PriceSource } from "../ports/price-source.ts";
import type { ReadModel } from "../ports/read-model.ts";
import { isStorageFault } from "../storage/storage-fault.ts";
import { isUnbounded, pinnedSpenders } from "./read-allowances.ts";

/** What a wallet has of a token, or lets a contract take of it, as it was last read. */
export interface SampledAmount {
  readonly wallet: string;
  readonly token: string;
  /** undefined: the wallet's own balance */
  readonly spender: Address | undefined;
  readonly amount: number;
  /** undefined without a reference price; infinite for an allowance without a bound */
  readonly dollars: number | undefined;
  readonly readAtMs: number;
}

/** Reads what the wallets have and allow, a bounded number of calls a minute, so that figures show it. */
export interface HoldingsSampler {
  latest(): readonly SampledAmount[];
  /** Reads on until the signal aborts, while somebody asks for what was read. */
  keepReading(signal: AbortSignal): Promise<void>;
}

const EVERY_MS = 60_000;
/** A quota of calls is worth more than a figure that is fresher: many wallets are read in turn. */
const MOST_READS = 60;
const ALLOWANCES_EVERY = 10;
/** Nobody has looked for so long: the node is left alone. */
const LOOKED_WITHIN_MS = 600_000;

interface Place {
  readonly wallet: { readonly name: string; readonly address: Address };
  readonly token: Token;
  readonly spender: Address | undefined;
}

/** What holdings are read with. */
export interface HoldingsDeps {
  readonly chain: Pick<Chain, "balance" | "nativeBalance" | "allowance">;
  readonly prices: PriceSource;
  readonly reads: Pick<ReadModel, "approvals">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** what wallets on paper are lent for gas */
  readonly lentGas?: ReadonlyMap<Address, bigint>;
}

/** Makes the sampler. A node that does not answer, or a database that is busy, leaves the last sample, with its time. */
export function createHoldingsSampler(
  configuration: Pick<Configuration, "wallets" | "tokens" | "service" | "policy">,
  deps: HoldingsDeps,
): HoldingsSampler {
  const samples = new Map<string, SampledAmount>();
  const wallets = [...configuration.wallets.values()];
  const tokens = [...configuration.tokens.values()].map(({ token }) => token);
  const balances: readonly Place[] = wallets.flatMap((wallet) =>
    tokens.map((token) => ({ wallet, token, spender: undefined })),
  );
  let round = 0;
  let waiting: Place[] = [];
  const refill = async (): Promise<void> => {
    const allowances = round % ALLOWANCES_EVERY === 0 ? await grantsOf(deps, configuration) : [];
    round += 1;
    waiting = [...balances, ...allowances];
  };
  const readSome = async (): Promise<void> => {
    try {
      if (waiting.length === 0) await refill();
    } catch (error) {
      if (!isStorageFault(error)) throw error;
      deps.logger.warn({ error }, "balances for the figures are not read now: the database cannot be");
      return;
    }
    const some = waiting.splice(0, MOST_READS);
    const found = await Promise.all(some.map((place) => readAmount(deps, place)));
    for (const one of found.filter((sample) => sample !== undefined))
      samples.set(`${one.wallet} ${one.token} ${one.spender}`, one);
  };
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  return {
    latest: () => {
      lookedAtMs = deps.clock.monotonicMs();
      return [...samples.values()];
    },
    keepReading: async (signal) => {
      while (!signal.aborted) {
        if (deps.clock.monotonicMs() - lookedAtMs < LOOKED_WITHIN_MS) await readSome();
        await deps.clock.sleep(EVERY_MS, signal);
      }
    },
  };
}

/** Whom the wallets ever allowed to take tokens, by the rows, and whom they may allow to. */
async function grantsOf(
  { reads }: HoldingsDeps,
  configuration: Parameters<typeof createHoldingsSampler>[0],
): Promise<readonly Place[]> {
  const { spenders } = await reads.approvals({ wallets: [], tokens: [] });
  const all = [...new Set([...pinnedSpenders(configuration), ...spenders])];
  const tokens = [...configuration.tokens.values()].map(({ token }) => token);
  const allowed = tokens.filter(({ address }) => address !== NATIVE_TOKEN);
  return [...configuration.wallets.values()].flatMap((wallet) =>
    allowed.flatMap((token) => all.map((spender) => ({ wallet, token, spender }))),
  );
}

/** @returns undefined where no node answers */
async function readAmount(
  { chain, prices, clock, ...settings }: HoldingsDeps,
  { wallet, token, spender }: Place,
): Promise<SampledAmount | undefined> {
  const owner = wallet.address;
  try {
    const raw =
      spender !== undefined
        ? await chain.allowance({ token: token.address, owner, spender })
        : withoutLentGas(
            settings,
            { token: token.address, wallet: owner },
            await (token.address === NATIVE_TOKEN ? chain.nativeBalance(owner) : chain.balance(token.address, owner)),
          );
    const dollars = await dollarsOf(prices, token, raw);
    const amount = spender !== undefined && isUnbounded(raw) ? Infinity : Number(formatUnits(raw, token.decimals));
    return { wallet: wallet.name, token: token.symbol, spender, amount, dollars, readAtMs: clock.nowMs() };
  } catch (error) {
    if (error instanceof ChainReadError) return undefined;
    throw error;
  }
}

async function dollarsOf(prices: PriceSource, token: Token, raw: bigint): Promise<number | undefined> {
  if (raw === 0n) return 0;
  if (isUnbounded(raw)) return Infinity;
  const price = await prices.price(token);
  if ("missing" in price) return undefined;
  return Number(formatUnits(valueDown({ raw, decimals: token.decimals }, price.usd), USD_DECIMALS));
}

import type { Address } from "../../../domain/money/address.ts";
import { GLOBAL_SCOPE } from "../../../domain/run/operating-mode.ts";
import type { WatchQuestions } from "../../../ports/watch-questions.ts";
import { readDigest } from "./digest-rows.ts";
import type { Readers } from "./readers.ts";
import type { RowStore } from "./row-store.ts";

/** Answers the questions of the background watches. */
export function createWatchReaders(rows: RowStore): Readers<keyof WatchQuestions> {
  return {
    beginning: () => ({
      identity: rows.identity(),
      work: rows.openWork().map((one) => ({ ...one, wallet: one.wallet ?? walletOf(rows, one.strategy) })),
      baselines: rows.baselines(),
    }),
    downtime: ({ swapIds }) => ({
      lastAliveMs: rows.lastAliveMs(),
      unsettled: rows.unsettledSwaps(),
      states: new Map(
        swapIds.flatMap((id) => {
          const state = rows.swapState(id);
          return state === undefined ? [] : [[id, state] as const];
        }),
      ),
    }),
    "left-ahead": ({ nowMs, salesAfterMs }) => ({
      isAnyEffectAhead: rows.isAnyEffectAhead(nowMs),
      ...rows.salesAhead(salesAfterMs),
    }),
    "chat-offset": ({ bot }) => rows.chatOffset(bot),
    digest: ({ period, nowMs }) => readDigest(rows, period, nowMs),
    drawdown: ({ wallets, tokens, unmoved }) => ({
      version: rows.ledgerVersion(),
      state: rows.drawdown(),
      mode: rows.mode(GLOBAL_SCOPE),
      nets: new Map(tokens.map((token) => [token, netOf(rows, wallets, { token, unmoved })])),
      proposed: rows.proposedSwaps(),
    }),
  };
}

function walletOf(rows: RowStore, strategyId: string): Address | undefined {
  return rows.strategy(strategyId)?.spec.wallet.address;
}

function netOf(
  rows: RowStore,
  wallets: readonly Address[],
  { token, unmoved }: { readonly token: Address; readonly unmoved: readonly string[] },
): bigint | undefined {
  let net = rows.deliveredToOthers(wallets, token);
  for (const wallet of wallets) {
    const own = rows.netOfSwaps(wallet, token, unmoved);
    if (own === undefined) return undefined;
    net += own;
  }
  return net;
}

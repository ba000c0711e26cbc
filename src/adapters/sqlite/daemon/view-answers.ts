import { GLOBAL_SCOPE } from "../../../domain/run/operating-mode.ts";
import type { LaneRowStore } from "../../../ports/lane-row-store.ts";
import type { Question } from "../../../ports/questions.ts";
import type { ModeRows, ViewQuestions, ViewRows } from "../../../ports/view-questions.ts";
import { readStepRows, subjectOf } from "./decision-rows.ts";
import type { Readers } from "./readers.ts";
import type { RowStore } from "./row-store.ts";

/** Answers what is asked while effects are performed, and by commands that look ahead. */
export function createViewAnswers(rows: RowStore, lanes: () => LaneRowStore): Pick<Readers, keyof ViewQuestions> {
  return {
    strategy: ({ strategyId }) => {
      const strategy = rows.strategy(strategyId);
      return { strategy, ...readModeRows(rows, strategyId, strategy?.spec) };
    },
    "view-start": ({ strategyId, wallet: asked }) => {
      const strategy = rows.strategy(strategyId);
      if (strategy === undefined) throw new Error(`strategy ${strategyId} has no row`);
      const wallet = asked ?? strategy.spec.wallet.address;
      return { strategy, ledgerVersion: rows.ledgerVersion(wallet), newestBlock: rows.newestBlock(wallet) };
    },
    view: (asked) => readView(rows, asked),
    "sold-usd": ({ daySinceMs, monthSinceMs }) => ({
      day: rows.soldUsdSince(daySinceMs, ""),
      month: rows.soldUsdSince(monthSinceMs, ""),
    }),
    "newest-block": ({ wallets }) => Math.max(0, ...wallets.map((wallet) => rows.newestBlock(wallet))),
    traded: ({ wallet, sell, buy }) => ({
      lastFreed: rows.lastFreed(wallet, sell),
      hasBought: rows.hasBought(wallet, buy),
    }),
    outflows: ({ swap, hashes, keys }) => ({
      ofOthers: new Set(hashes.filter((hash) => rows.hashOfOther(hash, swap))),
      accepted: new Set(keys.filter((key) => rows.wasAccepted(key))),
      unreportedTo: rows.knownChain(swap.wallet)?.baseline.block,
    }),
    beside: ({ swapId, hash, sides }) =>
      rows
        .filledBeside(swapId, hash, sides)
        .flatMap(({ runId, id }) => rows.run(runId)?.swaps.filter((swap) => swap.id === id) ?? []),
    "known-chain": ({ wallet }) => rows.knownChain(wallet),
    signing: ({ runId, strategyId, digests }) => ({
      ...readModeRows(rows, strategyId, rows.strategy(strategyId)?.spec),
      halts: lanes().halts(),
      isBarred: rows.isRunBarred(runId),
      run: rows.run(runId),
      typedData: present(digests, (digest) => rows.intendedSignature(digest)),
    }),
    "dry-run-step": ({ run, event, of }) => readStepRows(rows, lanes(), { run, about: subjectOf(event), asked: of }),
  };
}

export function readModeRows(rows: RowStore, strategyId: string, spec: ModeRows["spec"]): ModeRows {
  const modes = { global: rows.mode(GLOBAL_SCOPE), own: rows.mode(strategyId) };
  return { modes, differences: rows.openDifferences(), spec };
}

function readView(rows: RowStore, asked: Question<"view">): ViewRows {
  const { strategyId, wallet, tokens, bars, soldSinceMs } = asked;
  return {
    ledgerVersion: rows.ledgerVersion(wallet),
    reserved: new Map(tokens.map((token) => [token, rows.reserved(wallet, token)])),
    net: present(tokens, (token) => rows.netOfSwaps(wallet, token)),
    sold: rows.soldBy(strategyId),
    accepted: rows.acceptedBy(strategyId),
    bought: rows.boughtBy(strategyId),
    bars: new Map(bars.map(({ token, sinceMs }) => [token, rows.priceBars(token, sinceMs)])),
    soldSince: soldSinceMs.map((sinceMs) => rows.soldBySince(strategyId, sinceMs)),
    tradedRuns: rows.tradedRuns(strategyId),
  };
}

/** What there is of some names. */
function present<N, T>(names: readonly N[], read: (name: N) => T | undefined): ReadonlyMap<N, T> {
  const found = new Map<N, T>();
  for (const name of names) {
    const value = read(name);
    if (value !== undefined) found.set(name, value);
  }
  return found;
}

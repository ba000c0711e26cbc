import type { Address } from "../../../domain/money/address.ts";
import { GLOBAL_SCOPE } from "../../../domain/run/operating-mode.ts";
import type { Swap } from "../../../domain/run/run.ts";
import type { GrantRows, GrantTerms, ReconciliationQuestions } from "../../../ports/reconciliation-questions.ts";
import type { KnownChain } from "../../../ports/reconciliation-store.ts";
import type { Readers } from "./readers.ts";
import type { RowStore } from "./row-store.ts";

/** Answers what is asked where the rows are checked against the chain. */
export function createReconciliationReaders(rows: RowStore): Readers<keyof ReconciliationQuestions> {
  return {
    standing: ({ keys, wallets }) => ({
      database: rows.databaseState(),
      open: rows.openDifferences(),
      reported: new Set(keys.filter((key) => rows.isReported(key))),
      known: knownOf(rows, wallets),
      acceptedUnproved: rows.acceptedUnproved(),
    }),
    acceptance: () => ({
      ...{ open: rows.openDifferences(), known: rows.knownChains(), swaps: openSwaps(rows) },
      strategies: rows.strategyIds().flatMap((id) => rows.strategy(id) ?? []),
    }),
    "first-look": ({ wallet, spender, tokens }) => ({
      ...rows.signedHistory(wallet),
      granted: new Set(tokens.filter((token) => rows.hasGrant({ wallet, token, spender }))),
    }),
    ours: ({ wallet, moves, nonces }) => {
      const ours = moves.filter(({ hash, token }) => rows.knowsMove(hash, wallet, token));
      return {
        moves: ours,
        nonces: new Set(nonces.filter((nonce) => rows.knowsNonce(wallet, nonce))),
        swaps: ours.length === moves.length ? [] : openSwaps(rows, wallet),
      };
    },
    allowance: ({ wallet, token, spender, final }) => ({
      isGranted: rows.hasGrant({ wallet, token, spender }),
      isFound: rows
        .openDifferences()
        .some((one) => one.kind === "allowance" && one.wallet === wallet && one.token === token),
      isOpen: final === undefined ? undefined : rows.isAllowanceOpen(wallet, token, final),
    }),
    "idle-grants": () => rows.idleGrants(),
    grant: ({ wallet, token }) => grantRows(rows, wallet, token),
  };
}

function knownOf(rows: RowStore, wallets: readonly Address[]): ReadonlyMap<Address, KnownChain> {
  return new Map(
    wallets.flatMap((wallet) => {
      const known = rows.knownChain(wallet);
      return known === undefined ? [] : [[wallet, known] as const];
    }),
  );
}

/** @param of all wallets without it */
function openSwaps(rows: RowStore, of?: Address): readonly Swap[] {
  return rows
    .openWork()
    .filter(({ wallet, swapId }) => swapId !== undefined && (of === undefined || wallet === of))
    .flatMap(({ runId, swapId }) => rows.run(runId)?.swaps.filter(({ id }) => id === swapId) ?? []);
}

function grantRows(rows: RowStore, wallet: Address, token: Address): GrantRows {
  return {
    version: rows.ledgerVersion(wallet),
    isBusy: rows.isTokenBusy(wallet, token, ""),
    ...readGrantTerms(rows, wallet, token),
  };
}

/** Reads what taking back a wallet's allowances of a token goes by. */
export function readGrantTerms(rows: RowStore, wallet: Address, token: Address): GrantTerms {
  return {
    differences: rows.openDifferences(),
    mode: rows.mode(GLOBAL_SCOPE),
    grantors: rows.grantors(wallet, token).map((strategyId) => ({
      strategyId,
      spec: rows.strategy(strategyId)?.spec,
      mode: rows.mode(strategyId),
    })),
  };
}

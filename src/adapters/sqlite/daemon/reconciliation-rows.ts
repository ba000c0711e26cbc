import { type Address, toAddress } from "../../../domain/money/address.ts";
import type { Difference, DifferenceKind, KnownChain } from "../../../ports/reconciliation-store.ts";
import { OPEN_RUNS, UNSETTLED_SWAPS } from "../index-conditions.ts";
import type { RowMemory } from "../row-memory.ts";
import type { Statements } from "../statements.ts";
import type { RowStore } from "./row-store.ts";

interface DifferenceColumns {
  id: number;
  key: string;
  wallet: string;
  token: string | null;
  kind: string;
  scope: string;
  text: string;
  facts: string;
  found_at_ms: number;
  found_boot: string | null;
  found_boot_ms: number | null;
}

interface KnownColumns {
  wallet: string;
  block_number: number;
  transaction_count: number;
  balances: string;
  baseline_block: number;
  baseline_count: number;
}

/** More than any daemon is about to sign at once, of which its marker knows nothing yet. */
const FURTHER = 1_000;

/** Rows of what the database knows of the chain and of itself. */
export function createReconciliationRows(
  sql: Statements,
  memory: RowMemory,
): Pick<RowStore, OtherRows | DifferenceRows | KnowledgeRows> {
  return {
    ...createDifferenceRows(sql, memory),
    ...createKnowledgeRows(sql),
    databaseState: () => {
      const row = sql.get<{ id: string | null; signatures: number }>(
        "SELECT database_id AS id, signatures + signed AS signatures FROM identity",
      );
      // The newest row may be in an archive by now; its number is not given again.
      const signings =
        sql.get<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'lane_signings'")?.seq ?? 0;
      return { id: row?.id ?? undefined, signatures: row?.signatures ?? 0, signings };
    },
    nameDatabase: (id) => {
      sql.run("UPDATE identity SET database_id = ? WHERE database_id IS NULL", id);
    },
    countBeyond: (known) => {
      sql.run("UPDATE identity SET signed = max(signed, ? - signatures) + ?", known, FURTHER);
    },
    adoptGrant: ({ wallet, token, spender }, { block, atMs }) => {
      sql.run(
        `INSERT INTO grants (wallet, token, spender, granted_at_ms, seen_block) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET seen_block = max(coalesce(seen_block, 0), excluded.seen_block)`,
        wallet,
        token,
        spender,
        atMs,
        block,
      );
    },
    countSale: ({ differenceId, strategy, token, amount }) => {
      sql.run(
        "INSERT INTO accepted_sales (difference_id, strategy, token, amount) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        differenceId,
        strategy,
        token,
        amount.toString(),
      );
    },
  };
}

type OtherRows = "databaseState" | "nameDatabase" | "countBeyond" | "adoptGrant" | "countSale";

type DifferenceRows =
  | "openDifferences"
  | "wasAccepted"
  | "addDifference"
  | "isReported"
  | "capFindings"
  | "capAcceptances"
  | "barOpenRuns"
  | "isRunBarred"
  | "settleDifference"
  | "removeUnchecked";

function createDifferenceRows(sql: Statements, memory: RowMemory): Pick<RowStore, DifferenceRows> {
  const write: Statements["run"] = (text, ...values) => {
    memory.forget();
    return sql.run(text, ...values);
  };
  return {
    openDifferences: () =>
      memory.read("open", () =>
        sql
          .all<DifferenceColumns>("SELECT * FROM differences WHERE settled_at_ms IS NULL ORDER BY id")
          .map(decodeDifference),
      ),
    addDifference: (finding, at) =>
      write(
        `INSERT INTO differences (key, wallet, token, kind, scope, text, facts, found_at_ms, found_boot, found_boot_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (key) DO UPDATE SET settled_by = NULL, settled_at_ms = NULL, text = excluded.text,
           facts = excluded.facts, found_at_ms = excluded.found_at_ms, found_boot = excluded.found_boot,
           found_boot_ms = excluded.found_boot_ms WHERE settled_by = 'chain'
           OR (settled_by IS NOT NULL AND kind = 'allowance' AND NOT EXISTS (SELECT 1 FROM grants
             WHERE grants.wallet = excluded.wallet AND grants.token = excluded.token
               AND spender = json_extract(excluded.facts, '$.spender')))`,
        finding.key,
        finding.wallet,
        finding.token ?? null,
        finding.kind,
        finding.scope,
        finding.text,
        JSON.stringify(finding.facts),
        ...[at.ms, at.sinceBoot.id, at.sinceBoot.ms],
      ) > 0,
    isReported: (key) =>
      sql.get(
        `SELECT 1 FROM differences AS one WHERE key = ? AND (settled_by IS NULL OR (settled_by <> 'chain'
           AND (kind <> 'allowance' OR EXISTS (SELECT 1 FROM grants WHERE grants.wallet = one.wallet
             AND grants.token = one.token AND spender = json_extract(one.facts, '$.spender')))))`,
        key,
      ) !== undefined,
    wasAccepted: (key) =>
      sql.get("SELECT 1 FROM differences WHERE key = ? AND settled_by <> 'chain'", key) !== undefined,
    capFindings: (atMs) => {
      write("UPDATE differences SET found_at_ms = min(found_at_ms, ?) WHERE settled_at_ms IS NULL", atMs);
    },
    capAcceptances: (atMs) => {
      sql.run("UPDATE differences SET settled_at_ms = ? WHERE settled_at_ms > ?", atMs, atMs);
    },
    barOpenRuns: () => {
      sql.run(`INSERT OR IGNORE INTO barred_runs (run_id) SELECT id FROM runs WHERE ${OPEN_RUNS}`);
    },
    isRunBarred: (runId) => sql.get("SELECT 1 FROM barred_runs WHERE run_id = ?", runId) !== undefined,
    settleDifference: (id, { by, atMs }) => {
      write(
        "UPDATE differences SET settled_by = ?, settled_at_ms = ? WHERE id = ? AND settled_at_ms IS NULL",
        by,
        atMs,
        id,
      );
    },
    removeUnchecked: (wallet) => {
      sql.run("DELETE FROM differences WHERE wallet = ? AND kind = 'unchecked'", wallet);
      // At a start each of hundreds of wallets has its row, and each check removes one of them.
      memory.change<readonly Difference[]>("open", (open) =>
        open.filter((one) => one.wallet !== wallet || one.kind !== "unchecked"),
      );
    },
  };
}

type KnowledgeRows =
  | "acceptedOthers"
  | "acceptedUnproved"
  | "knownChain"
  | "knownChains"
  | "saveKnownChain"
  | "signedHistory"
  | "knowsMove"
  | "knowsNonce"
  | "hasGrant";

/** What took enough of the token for an order is its fill as long as none shows more: it explains nothing for good. */
const IS_PROVISIONAL = "mode IS 'gasless' AND state = 'mined' AND json_extract(body, '$.fill.assumed') IS 1";

function createKnowledgeRows(sql: Statements): Pick<RowStore, KnowledgeRows> {
  return {
    acceptedOthers: () => {
      const rows = sql.all<{ wallet: string; atMs: number }>(
        `SELECT wallet, max(settled_at_ms) AS atMs FROM differences
         WHERE settled_by <> 'chain' AND kind IN ('new', 'lost', 'older', 'fill', 'nonce') GROUP BY wallet`,
      );
      return new Map(rows.map(({ wallet, atMs }) => [toAddress(wallet), atMs]));
    },
    acceptedUnproved: () => {
      const rows = sql.all<{ wallet: string }>(
        `SELECT DISTINCT wallet FROM differences LEFT JOIN known_chain USING (wallet)
         WHERE settled_by <> 'chain' AND settled_at_ms >= coalesce(at_ms, 0)`,
      );
      return new Set(rows.map(({ wallet }) => toAddress(wallet)));
    },
    knownChain: (wallet) => {
      const row = sql.get<KnownColumns>("SELECT * FROM known_chain WHERE wallet = ?", wallet);
      return row === undefined ? undefined : decodeKnown(row);
    },
    knownChains: () => {
      const known = sql.all<KnownColumns>("SELECT * FROM known_chain").map(decodeKnown);
      return new Map(known.map((row) => [row.wallet, row]));
    },
    saveKnownChain: ({ wallet, block, transactionCount, balances, baseline }, atMs) => {
      const texts = Object.fromEntries([...balances].map(([token, amount]) => [token, amount.toString()]));
      sql.run(
        `INSERT INTO known_chain (wallet, block_number, transaction_count, balances, baseline_block, baseline_count, at_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (wallet) DO UPDATE SET block_number = excluded.block_number,
           transaction_count = excluded.transaction_count, balances = excluded.balances, at_ms = excluded.at_ms`,
        ...[wallet, block, transactionCount, JSON.stringify(texts)],
        ...[baseline.block, baseline.transactionCount, atMs],
      );
    },
    signedHistory: (wallet) => signedHistory(sql, wallet),
    knowsMove: (hash, wallet, token) =>
      sql.get("SELECT 1 FROM lane_attempts WHERE hash = ?", hash) !== undefined ||
      sql.get(
        `SELECT 1 FROM swaps WHERE hash = ?
           AND ((wallet = ? AND sell_token = ? AND NOT (${IS_PROVISIONAL}))
             OR (mode = 'self-executed' AND intent_id IS NOT NULL))`,
        ...[hash, wallet, token],
      ) !== undefined,
    knowsNonce: (wallet, nonce) =>
      sql.get(
        `SELECT 1 FROM swaps WHERE wallet = ? AND nonce = ? AND (state = 'final' OR ${UNSETTLED_SWAPS})`,
        wallet,
        nonce.toString(),
      ) !== undefined,
    hasGrant: ({ wallet, token, spender }) =>
      sql.get("SELECT 1 FROM grants WHERE wallet = ? AND token = ? AND spender = ?", wallet, token, spender) !==
      undefined,
  };
}

function decodeDifference(row: DifferenceColumns): Difference {
  return {
    id: row.id,
    key: row.key,
    wallet: toAddress(row.wallet),
    token: row.token === null ? undefined : toAddress(row.token),
    kind: row.kind as DifferenceKind,
    scope: row.scope as Difference["scope"],
    text: row.text,
    facts: JSON.parse(row.facts) as Difference["facts"],
    foundAtMs: row.found_at_ms,
    foundSinceBoot:
      row.found_boot === null || row.found_boot_ms === null ? undefined : { id: row.found_boot, ms: row.found_boot_ms },
  };
}

function decodeKnown(row: KnownColumns): KnownChain {
  const balances = Object.entries(JSON.parse(row.balances) as Record<string, string>);
  return {
    wallet: toAddress(row.wallet),
    block: row.block_number,
    transactionCount: row.transaction_count,
    balances: new Map(balances.map(([token, amount]) => [toAddress(token), BigInt(amount)])),
    baseline: { block: row.baseline_block, transactionCount: row.baseline_count },
  };
}

function signedHistory(sql: Statements, wallet: Address): ReturnType<RowStore["signedHistory"]> {
  const own = sql.get("SELECT 1 FROM lane_intents WHERE account = ? AND nonce IS NOT NULL LIMIT 1", wallet);
  const right = sql.get("SELECT 1 FROM capabilities WHERE wallet = ? ORDER BY rowid LIMIT 1", wallet);
  const newest = sql.get<{ block: number }>(
    `SELECT block_number AS block FROM swaps WHERE wallet = ? AND block_number IS NOT NULL
     ORDER BY rowid DESC LIMIT 1`,
    wallet,
  );
  const first = sql.get<{ block: number | null }>(
    "SELECT max(block_number) AS block FROM baselines WHERE wallet = ?",
    wallet,
  );
  return { hasSigned: own !== undefined || right !== undefined, lastBlock: newest?.block ?? first?.block ?? 0 };
}

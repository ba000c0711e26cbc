import type { Address } from "../../../domain/money/address.ts";
import type { RunRecord } from "../../../domain/run/records.ts";
import type { Run, Swap } from "../../../domain/run/run.ts";
import { swapOf } from "../../../domain/run/run.ts";
import type { Statements } from "../statements.ts";
import { writeChecks } from "./check-rows.ts";
import { writeHold } from "./hold-rows.ts";
import { encodePrices } from "./price-codec.ts";
import { writeRetry } from "./retry-rows.ts";
import { type CountedMoney, countMoney } from "./total-rows.ts";

/** A swap changes its wallet, and what was bought may change another one. */
function reportLedgerChanged(context: RecordContext, { wallet, recipient }: Swap): void {
  context.ledgerChanged(wallet);
  if (recipient !== wallet) context.ledgerChanged(recipient);
}

/** What a record is written with. `ledgerChanged` is called for every change of what the runs of a wallet share. */
export interface RecordContext {
  readonly run: Run;
  readonly atMs: number;
  ledgerChanged(wallet: Address): void;
}

/**
 * Writes one record of a step. Pauses, transactions and alerts are not written here: the engine sets the mode, hands the
 * transaction to its lane and raises the alert, in the same commit.
 */
export function writeRecord(sql: Statements, record: RunRecord, context: RecordContext): void {
  const { atMs } = context;
  switch (record.kind) {
    case "memory":
      sql.run(
        "UPDATE strategies SET memory = ?, memory_at_ms = ? WHERE id = ?",
        record.memory,
        atMs,
        context.run.strategyId,
      );
      return;
    case "reserve":
    case "value":
    case "spend":
    case "unspend":
    case "release":
      writeLedger(sql, record, context);
      reportLedgerChanged(context, swapOf(context.run, record.swapId));
      return;
    case "open-capability":
    case "close-capability":
      writeCapability(sql, record, atMs);
      return;
    case "grant":
      sql.run(
        `INSERT INTO grants (wallet, token, spender, granted_at_ms, strategy) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET strategy = excluded.strategy`,
        record.wallet,
        record.token,
        record.spender,
        atMs,
        context.run.strategyId,
      );
      return;
    case "intend-signature":
    case "signature":
      writeSignature(sql, record, atMs);
      return;
    case "checks":
      writeChecks(sql, record.swapId, record.checks, atMs);
      return;
    case "prices":
      sql.run("UPDATE swaps SET price_evidence = ? WHERE id = ?", encodePrices(record.prices), record.swapId);
      return;
    case "route":
      sql.run(
        `UPDATE swaps SET distributions = coalesce(?, distributions), service_record = coalesce(?, service_record)
         WHERE id = ?`,
        record.distributions ?? null,
        record.serviceRecord ?? null,
        record.swapId,
      );
      return;
    case "hold":
      writeHold(sql, context.run.id, record.hold, atMs);
      return;
    case "retry":
      writeRetry(sql, context.run.id, record, atMs);
      return;
    case "pause":
    case "transaction":
    case "alert":
      return;
  }
}

const RESERVE = `INSERT INTO ledger (swap_id, strategy, wallet, token, amount, usd, state, reserved_at_ms)
  VALUES (?, ?, ?, ?, ?, '0', 'reserved', ?)`;

/**
 * A swap reserves once. Only what is sized by proceeds follows what is measured, and never once it was settled.
 * @throws Error when the swap has a reservation that may not change
 */
function reserve(sql: Statements, record: Extract<RunRecord, { kind: "reserve" }>, context: RecordContext): void {
  const swap = swapOf(context.run, record.swapId);
  const follows = "ON CONFLICT (swap_id) DO UPDATE SET amount = excluded.amount WHERE state = 'reserved'";
  const changes = sql.run(
    swap.planned.kind === "proceeds" ? `${RESERVE} ${follows}` : RESERVE,
    record.swapId,
    context.run.strategyId,
    swap.wallet,
    record.token.address,
    record.amount.toString(),
    context.atMs,
  );
  if (changes !== 1) throw new Error(`swap ${record.swapId} has been settled: nothing can be reserved for it again`);
}

type LedgerRecord = Extract<RunRecord, { kind: "reserve" | "value" | "spend" | "unspend" | "release" }>;

/** Writes the swap's row, and what totals count of it. */
function writeLedger(sql: Statements, record: LedgerRecord, context: RecordContext): void {
  const row = (): CountedMoney | undefined =>
    sql.get("SELECT strategy, token, amount, usd, state, settled_at_ms FROM ledger WHERE swap_id = ?", record.swapId);
  const before = row();
  writeMoney(sql, record, context);
  countMoney(sql, before, row());
}

function writeMoney(sql: Statements, record: LedgerRecord, context: RecordContext): void {
  const { atMs } = context;
  switch (record.kind) {
    case "reserve":
      reserve(sql, record, context);
      return;
    case "value":
      sql.run("UPDATE ledger SET usd = ? WHERE swap_id = ?", record.usd.toString(), record.swapId);
      return;
    case "spend":
      sql.run(
        "UPDATE ledger SET state = 'spent', amount = ?, settled_at_ms = max(?, ?, reserved_at_ms) WHERE swap_id = ?",
        record.amount.toString(),
        atMs,
        // By a clock that was set back a sale would count in a time before it was made.
        (swapOf(context.run, record.swapId).fill?.blockTimeSeconds ?? 0) * 1_000,
        record.swapId,
      );
      return;
    case "unspend":
      sql.run(
        "UPDATE ledger SET state = 'reserved', amount = ?, settled_at_ms = NULL WHERE swap_id = ?",
        record.amount.toString(),
        record.swapId,
      );
      return;
    case "release":
      sql.run("UPDATE ledger SET state = 'released', settled_at_ms = ? WHERE swap_id = ?", atMs, record.swapId);
      return;
  }
}

type CapabilityRecord = Extract<RunRecord, { kind: "open-capability" | "close-capability" }>;

/** A second live capability of a wallet and token breaks the unique index, and so the whole commit. */
function writeCapability(sql: Statements, record: CapabilityRecord, atMs: number): void {
  if (record.kind === "close-capability") {
    sql.run("UPDATE capabilities SET live = 0, closed_at_ms = ? WHERE swap_id = ? AND live = 1", atMs, record.swapId);
    return;
  }
  sql.run(
    `INSERT INTO capabilities (swap_id, wallet, token, spender, live, until_seconds, opened_at_ms)
     VALUES (?, ?, ?, ?, 1, ?, ?)`,
    record.swapId,
    record.wallet,
    record.token,
    record.spender,
    record.untilSeconds ?? null,
    atMs,
  );
}

type SignatureRecord = Extract<RunRecord, { kind: "intend-signature" | "signature" }>;

function writeSignature(sql: Statements, record: SignatureRecord, atMs: number): void {
  if (record.kind === "signature") {
    sql.run(
      "UPDATE signatures SET signature = ?, signed_at_ms = ? WHERE digest = ?",
      record.signature,
      atMs,
      record.digest,
    );
    return;
  }
  sql.run(
    `INSERT INTO signatures (digest, swap_id, kind, typed_data, valid_until_seconds, intended_at_ms)
     VALUES (?, ?, ?, ?, ?, ?)`,
    record.digest,
    record.swapId,
    record.purpose,
    record.typedData,
    record.validUntilSeconds,
    atMs,
  );
}

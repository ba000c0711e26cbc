import { toAddress } from "../../../domain/money/address.ts";
import type { Swap } from "../../../domain/run/run.ts";
import type { ListedAlert, ListedProposal, ListedRequest, Listing } from "../../../ports/listing.ts";
import type { SqlValue, Statements } from "../statements.ts";
import { decodeJson } from "./codec.ts";

/** Alerts from the newest number down. */
export function listAlerts(
  sql: Statements,
  { state, before = Number.MAX_SAFE_INTEGER, limit }: Parameters<Listing["alerts"]>[0],
): readonly ListedAlert[] {
  const which = { open: "over_at_ms IS NULL", past: "over_at_ms IS NOT NULL", all: "true" }[state];
  return sql.all<ListedAlert>(
    `SELECT number, severity, code, subject, text, strategy, run_id AS run, raised_at_ms AS raisedAtMs,
       over_at_ms AS overAtMs FROM alerts WHERE number < ? AND ${which} ORDER BY number DESC LIMIT ?`,
    before,
    limit,
  );
}

/** A row of `requests`. */
export interface StoredRequest {
  readonly id: number;
  readonly command: string;
  readonly arguments: string;
  readonly made_by: string;
  readonly made_at_ms: number;
  readonly answer: string | null;
}

/** What operators asked for, from the newest down. */
export function listRequests(
  sql: Statements,
  { before = Number.MAX_SAFE_INTEGER, limit }: Parameters<Listing["requests"]>[0],
): readonly ListedRequest[] {
  return sql
    .all<StoredRequest>("SELECT * FROM requests WHERE id < ? ORDER BY id DESC LIMIT ?", before, limit)
    .map(decodeRequest);
}

/** Reads a request as it is shown. */
export function decodeRequest(row: StoredRequest): ListedRequest {
  const { id, command, made_by: madeBy, made_at_ms: madeAtMs, answer } = row;
  return { id, command, arguments: JSON.parse(row.arguments) as Record<string, string>, madeBy, madeAtMs, answer };
}

interface OpenSwapRow {
  readonly id: string;
  readonly run_id: string;
  readonly strategy: string;
  readonly state: string;
  readonly wallet: string;
  readonly deadline_seconds: number | null;
  readonly body: string;
}

const UNDECIDED: readonly SqlValue[] = ["signed", "submitted", "unknown"];

/** What owners of Safes have not decided: open swaps that were proposed. */
export function listProposals(sql: Statements): readonly ListedProposal[] {
  return sql
    .all<OpenSwapRow>(
      `SELECT swaps.id, run_id, strategy, swaps.state, wallet, deadline_seconds, body FROM swaps JOIN runs ON runs.id = run_id
       WHERE swaps.state IN ('signed', 'submitted', 'mined', 'confirmed', 'unknown') ORDER BY swaps.id LIMIT 1000`,
    )
    .flatMap((row) => {
      const body = decodeJson(row.body) as Pick<Swap, "proposal" | "signatures">;
      if (body.proposal === undefined || !UNDECIDED.includes(row.state)) return [];
      return [
        {
          ...{ swap: row.id, run: row.run_id, strategy: row.strategy, state: row.state },
          ...{ safe: toAddress(row.wallet), nonce: body.proposal.nonce, hash: body.signatures?.swapDigest },
          deadlineSeconds: row.deadline_seconds,
        },
      ];
    });
}

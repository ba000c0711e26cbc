import type { Address } from "../../../domain/money/address.ts";
import type { RunHistory } from "../../../ports/history.ts";
import type { FillPlace, ListedFill, Listing, Movement, SeenPrice, WaitingRun } from "../../../ports/listing.ts";
import type { SqliteDatabase } from "../../../storage/database.ts";
import { OPEN_RUNS } from "../index-conditions.ts";
import { prepareStatements, type SqlValue, type Statements } from "../statements.ts";
import { listAudits, newestWholeAudit } from "./audit-store.ts";
import { createHistoryReader, type HistoryReader } from "./history-rows.ts";
import { TOLD_LATE_MS } from "./hold-rows.ts";
import { decodeRequest, listAlerts, listProposals, listRequests, type StoredRequest } from "./listing-rows.ts";
import { createListedTransitions } from "./listing-transitions.ts";
import { decodePrices } from "./price-codec.ts";
import { createPriceRows } from "./price-rows.ts";

/** Long lists for people, on a database that is open for reading and has this program's tables. */
export function createListing(db: SqliteDatabase): Listing {
  const sql = prepareStatements(db);
  const history = createHistoryReader(db);
  const prices = createPriceRows(sql);
  return {
    runs: async (asked) => history.runs(asked),
    fills: async (asked) => db.transaction(() => listFills(sql, history, asked))(),
    movements: async (limit) => listMovements(sql, limit),
    priceBars: async (token, sinceMs) => prices.priceBars(token, sinceMs),
    pricesSeen: async (token, swaps) => listPricesSeen(sql, token, swaps),
    alerts: async (asked) => listAlerts(sql, asked),
    requests: async (asked) => listRequests(sql, asked),
    request: async (id) => {
      const row = sql.get<StoredRequest>("SELECT * FROM requests WHERE id = ?", id);
      return row === undefined ? undefined : decodeRequest(row);
    },
    states: async () => db.transaction(() => ({ openAlerts: history.openAlerts(), modes: history.modes() }))(),
    waiting: async (nowMs) => sql.all<WaitingRun>(WAITING, nowMs),
    proposals: async () => listProposals(sql),
    audits: async (limit) => ({ newest: listAudits(sql, limit), whole: newestWholeAudit(sql) }),
    ...createListedTransitions(sql),
  };
}

/** With the text of its own alert: a list of all alerts has an end, and others may fill it. */
const WAITING = `SELECT run_id AS run, swap_id AS swap, strategy, kind, since_ms AS sinceMs, until_ms + ${TOLD_LATE_MS} AS untilMs,
    (SELECT text FROM alerts AS told WHERE told.subject = 'wait of ' || run_id AND told.over_at_ms IS NULL
       AND told.code = CASE kind WHEN 'approval' THEN 'APPROVAL_NEEDED' ELSE 'SWAP_ANNOUNCED' END) AS text
  FROM runs JOIN holds ON run_id = runs.id
  WHERE ${OPEN_RUNS} AND decision IS NULL AND untilMs > ? ORDER BY untilMs LIMIT 100`;

interface FillRow {
  readonly id: string;
  readonly run_id: string;
  readonly block_number: number;
  readonly block_time_seconds: number | null;
}

type AskedFills = Parameters<Listing["fills"]>[0];

function listFills(sql: Statements, history: HistoryReader, asked: AskedFills): readonly ListedFill[] {
  const { strategy, sinceMs = 0, before = LAST, limit } = asked;
  const values: SqlValue[] = [before.block, before.id, limit];
  const rows =
    strategy === undefined
      ? sql.all<FillRow>(`${SELECT_FILLS} WHERE ${FILLED}`, ...values)
      : sql.all<FillRow>(
          `${SELECT_FILLS} JOIN runs ON runs.id = run_id WHERE runs.strategy = ? AND ${FILLED}`,
          strategy,
          ...values,
        );
  const runs = new Map<string, RunHistory>();
  return upTo(rows, Math.floor(sinceMs / 1_000)).flatMap(({ id, run_id: runId, block_number: block }) => {
    const run = runs.get(runId) ?? history.run(runId);
    const swap = run?.swaps.find((one) => one.id === id);
    if (run === undefined || swap === undefined) return [];
    runs.set(runId, run);
    return [{ run: runId, strategy: run.strategy, block, swap }];
  });
}

/** Blocks follow one another in time: a condition would look for later ones down to the oldest fill. */
function upTo(rows: readonly FillRow[], sinceSeconds: number): readonly FillRow[] {
  const older = rows.findIndex(({ block_time_seconds: seconds }) => (seconds ?? 0) < sinceSeconds);
  return older === -1 ? rows : rows.slice(0, older);
}

const LAST: FillPlace = { block: Number.MAX_SAFE_INTEGER, id: "" };
const SELECT_FILLS = "SELECT swaps.id, run_id, block_number, block_time_seconds FROM swaps";
const FILLED = `block_number IS NOT NULL AND (block_number, swaps.id) < (?, ?) AND sold IS NOT NULL
  ORDER BY block_number DESC, swaps.id DESC LIMIT ?`;

interface MovementRow extends Omit<Movement, "sold" | "bought"> {
  readonly sold: string;
  readonly bought: string;
}

function listMovements(sql: Statements, limit: number): readonly Movement[] {
  return sql
    .all<MovementRow>(
      `SELECT block_number AS block, block_time_seconds AS atSeconds, wallet, recipient, sell_token AS sell, sold,
         buy_token AS buy, bought FROM swaps
       WHERE block_number IS NOT NULL AND sold IS NOT NULL AND bought IS NOT NULL ORDER BY block_number DESC LIMIT ?`,
      limit,
    )
    .map((row) => ({ ...row, sold: BigInt(row.sold), bought: BigInt(row.bought) }));
}

interface EvidenceRow {
  readonly sell_token: string;
  readonly price_evidence: string;
}

function listPricesSeen(sql: Statements, token: Address, swaps: number): readonly SeenPrice[] {
  return sql
    .all<EvidenceRow>(
      `SELECT sell_token, price_evidence FROM (
         SELECT sell_token, buy_token, price_evidence FROM swaps ORDER BY rowid DESC LIMIT ?
       ) WHERE price_evidence IS NOT NULL AND (sell_token = ? OR buy_token = ?)`,
      swaps,
      token,
      token,
    )
    .flatMap(({ sell_token, price_evidence }) => {
      const { readAtMs, sold, bought } = decodePrices(price_evidence);
      const price = sell_token === token ? sold : bought;
      return price === undefined ? [] : [{ atMs: readAtMs, usd: price.usd }];
    })
    .sort((one, other) => one.atMs - other.atMs);
}

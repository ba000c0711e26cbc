import type SqliteConstructor from "better-sqlite3";
import type { ChainReader } from "./chain-reader.ts";
import type { Tip } from "./node-answers.ts";
import { NoAnswer } from "./node-client.ts";
import { AuditError } from "./report.ts";
import type { BaselineRow } from "./rows.ts";
import { timeText } from "./time-text.ts";

/** From where an audit is asked to begin: a block, or an instant in Unix seconds. */
export type Since = { readonly block: number } | { readonly seconds: number };

/** Where an audit begins: everything after this block, of which the time is known, is looked at. */
export interface Start {
  readonly block: number;
  readonly seconds: number;
}

/**
 * Finds the last block before what is asked, by its time where that is what is known.
 * @throws AuditError `NOTHING_SINCE` where the chain has not come to that block or instant: nothing would be looked at;
 * `CHAIN_UNREADABLE` where the node does not keep the block before it
 */
export async function findStart(chain: ChainReader, since: Since, tip: Tip): Promise<Start> {
  if ("block" in since) {
    if (since.block > tip.number) {
      const message = `There is no block ${since.block} yet, the newest is ${tip.number} of ${timeText(tip.seconds)}: nothing would be looked at.`;
      throw new AuditError("NOTHING_SINCE", message);
    }
    const block = Math.max(0, since.block - 1);
    return { block, seconds: await chain.blockTime(block) };
  }
  if (since.seconds > tip.seconds) {
    const message = `There is no block of ${timeText(since.seconds)} or later yet, the newest is ${tip.number} of ${timeText(tip.seconds)}: nothing would be looked at.`;
    throw new AuditError("NOTHING_SINCE", message);
  }
  return await lastBefore(chain, since.seconds, tip);
}

/**
 * The last block before an instant, sought from the tip back: a node need not keep older ones. Those that it does not
 * give count as older, and the one that is found has to be given.
 */
async function lastBefore(chain: ChainReader, seconds: number, tip: Tip): Promise<Start> {
  const isOlder = async (block: number): Promise<boolean> => ((await keptTime(chain, block)) ?? 0) < seconds;
  let low = 0;
  let high = tip.number;
  for (let step = 1; high > 0; step *= 2) {
    const block = Math.max(0, tip.number - step);
    if (await isOlder(block)) {
      low = block + 1;
      break;
    }
    high = block;
  }
  // The first block that is not older than the instant.
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await isOlder(middle)) low = middle + 1;
    else high = middle;
  }
  const block = Math.max(0, low - 1);
  const time = await keptTime(chain, block);
  if (time !== undefined && (time < seconds || block === low)) return { block, seconds: time };
  const message = `The node does not give block ${block}, which should be the last one before ${timeText(seconds)}: begin later by \`--since ${low + 1}\`, or name an endpoint that keeps old blocks.`;
  throw new AuditError("CHAIN_UNREADABLE", message);
}

/** Unix seconds of a block; undefined where the node keeps it no more. */
async function keptTime(chain: ChainReader, block: number): Promise<number | undefined> {
  try {
    return await chain.blockTime(block);
  } catch (error) {
    if (error instanceof AuditError && !(error.cause instanceof NoAnswer)) return undefined;
    throw error;
  }
}

/**
 * Balances to count from: a recorded one where it is younger than the start, else what the node or a checkpoint has of
 * the start's own block.
 * @throws AuditError `CHAIN_UNREADABLE` when nobody knows the balances of that block
 */
export async function balancesAtStart(
  chain: ChainReader,
  baselines: readonly BaselineRow[],
  start: Start,
): Promise<BaselineRow[]> {
  const older = baselines.filter((row) => row.block_number < start.block);
  if (older.length === 0) return [...baselines];
  const found = await chain.balances(older, start.block).catch((error: unknown) => {
    if (!(error instanceof AuditError)) throw error;
    const newest = Math.max(...baselines.map(({ block_number }) => block_number));
    const message = `The node has no balances of block ${start.block} (${error.message}) Begin at a recorded baseline (the newest is of block ${newest}), or name an endpoint that keeps old states.`;
    throw new AuditError("CHAIN_UNREADABLE", message, { cause: error });
  });
  const atStart = new Map(
    older.map((row, index) => {
      const balance = found[index];
      if (balance !== undefined) return [row, { ...row, block_number: start.block, balance }];
      const message = `What ${row.wallet} had of ${row.symbol} in block ${start.block} is not known: the token does not say it. Audit without \`--since\`.`;
      throw new AuditError("CHAIN_UNREADABLE", message);
    }),
  );
  return baselines.map((row) => atStart.get(row) ?? row);
}

const OPEN_SWAPS = "state IN ('signed', 'submitted', 'mined', 'confirmed', 'unknown')";
const BUSY_SWAPS = "state IN ('quoted', 'cleared', 'approving', 'signed', 'submitted', 'mined', 'unknown')";
const OPEN_RUNS = "state IN ('due', 'deciding', 'executing', 'parked')";
const OPEN_INTENTS = "state IN ('planned', 'signed', 'broadcast', 'mined', 'confirmed')";

/**
 * Chooses the rows of an audit that begins late, in tables of this connection's own: runs whose slot, swaps whose fill
 * and transactions whose block came since, all that is open, and what belongs to these. Each is found by an index.
 */
export function chooseRows(db: SqliteConstructor.Database, start: Start): void {
  db.exec(`
    DROP TABLE IF EXISTS temp.chosen_start;
    DROP TABLE IF EXISTS temp.chosen_runs;
    DROP TABLE IF EXISTS temp.chosen_swaps;
    DROP TABLE IF EXISTS temp.chosen_intents;
    CREATE TEMP TABLE chosen_start (ms INTEGER);
    CREATE TEMP TABLE chosen_runs (id TEXT PRIMARY KEY);
    CREATE TEMP TABLE chosen_swaps (id TEXT PRIMARY KEY);
    CREATE TEMP TABLE chosen_intents (id TEXT PRIMARY KEY);
  `);
  db.prepare("INSERT INTO chosen_start VALUES (?)").run(start.seconds * 1_000);
  db.prepare(
    `INSERT OR IGNORE INTO chosen_runs
       SELECT id FROM main.runs WHERE slot_ms >= @ms UNION ALL SELECT id FROM main.runs WHERE ${OPEN_RUNS}
       UNION ALL SELECT run_id FROM main.swaps WHERE block_number > @block
       UNION ALL SELECT run_id FROM main.swaps WHERE ${OPEN_SWAPS}
       UNION ALL SELECT run_id FROM main.swaps WHERE ${BUSY_SWAPS}`,
  ).run({ ms: start.seconds * 1_000, block: start.block });
  db.exec("INSERT INTO chosen_swaps SELECT swaps.id FROM chosen_runs JOIN main.swaps ON swaps.run_id = chosen_runs.id");
  db.prepare(
    `INSERT OR IGNORE INTO chosen_intents
       SELECT id FROM main.lane_intents WHERE mined_block_number > @block
       UNION ALL SELECT id FROM main.lane_intents WHERE ${OPEN_INTENTS}
       UNION ALL SELECT lane_intents.id FROM chosen_swaps JOIN main.lane_intents
         ON lane_intents.id > chosen_swaps.id || '.' AND lane_intents.id < chosen_swaps.id || '/'`,
  ).run({ block: start.block });
}

/** Which rows of a table belong to what was chosen. What is not named here is small, and read whole. */
export const CHOSEN: Readonly<Record<string, string>> = {
  runs: "id IN (SELECT id FROM chosen_runs)",
  swaps: "id IN (SELECT id FROM chosen_swaps)",
  gaps: "strategy IN (SELECT id FROM strategies) AND last_slot_ms >= (SELECT ms FROM chosen_start)",
  ledger: "swap_id IN (SELECT id FROM chosen_swaps)",
  capabilities: "swap_id IN (SELECT swap_id FROM capabilities WHERE live = 1 UNION ALL SELECT id FROM chosen_swaps)",
  signatures: "swap_id IN (SELECT id FROM chosen_swaps)",
  transitions: "subject_id IN (SELECT id FROM chosen_runs UNION ALL SELECT id FROM chosen_swaps)",
  lane_intents: "id IN (SELECT id FROM chosen_intents)",
  lane_attempts: "intent_id IN (SELECT id FROM chosen_intents)",
  lane_signings: "intent_id IN (SELECT id FROM chosen_intents)",
  lane_costs: "intent_id IN (SELECT id FROM chosen_intents)",
};

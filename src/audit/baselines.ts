import { amountText } from "./amount-text.ts";
import type { ChainReader } from "./chain-reader.ts";
import { AuditError, type Difference, difference } from "./report.ts";
import type { FindingRow, SwapRow } from "./rows.ts";
import type { Snapshot } from "./snapshot.ts";

/** A wallet that signed has something to count from, of what it sold and of what came to it. */
export function checkBaselines(snapshot: Snapshot): Difference[] {
  const known = new Set(snapshot.baselines.map(({ wallet, token }) => `${wallet} ${token}`));
  const missing = new Map<string, Difference>();
  for (const swap of snapshot.swaps.values()) {
    if (snapshot.histories.swaps.get(swap.id)?.everSigned !== true) continue;
    for (const [token, symbol] of movedBy(swap)) {
      const subject = `${swap.wallet} ${token}`;
      if (known.has(subject) || missing.has(subject)) continue;
      const message = `${swap.wallet} signed swaps of ${symbol}, and no balance of it was recorded before.`;
      missing.set(subject, difference("BASELINE_MISSING", subject, message));
    }
  }
  return [...missing.values()];
}

function movedBy(swap: SwapRow): [string, string][] {
  const sold: [string, string] = [swap.sell_token, swap.sell_symbol];
  return swap.recipient === swap.wallet ? [sold, [swap.buy_token, swap.buy_symbol]] : [sold];
}

/**
 * Checks the recorded balances against those that the chain had, where the node still knows: most keep the state of a
 * block for some minutes only. A lower one would make a deposit of what was taken.
 */
export async function compareBaselines(chain: ChainReader, snapshot: Snapshot): Promise<Difference[]> {
  // Where the audit begins later, these are the chain's own balances already.
  if (snapshot.start !== undefined) return [];
  const found: Difference[] = [];
  for (const [block, rows] of Map.groupBy(snapshot.baselines, ({ block_number }) => block_number)) {
    const balances = await balancesOrNothing(chain, rows, block);
    if (balances === undefined) continue;
    for (const [index, row] of rows.entries()) {
      const { wallet, symbol, balance } = row;
      const actual = balances[index];
      if (actual === undefined || actual === balance) continue;
      const message = `${wallet} held ${amountText(actual, row)} in block ${block}; ${amountText(balance, row)} is recorded to count from.`;
      found.push(difference("BASELINE_DIFFERS", `${wallet} ${symbol}`, message, { block, recorded: balance, actual }));
    }
  }
  return found;
}

async function balancesOrNothing(
  chain: ChainReader,
  rows: Parameters<ChainReader["balances"]>[0],
  block: number,
): Promise<readonly (bigint | undefined)[] | undefined> {
  try {
    return await chain.balances(rows, block);
  } catch (error) {
    if (error instanceof AuditError) return undefined;
    throw error;
  }
}

/** A backup knows no more of what nobody recorded, and what is still being read cannot be accepted. */
function adviceOn({ kind, facts }: FindingRow): string {
  switch (kind) {
    case "fill":
    case "nonce":
    case "outflow":
      return "Find out who it was: if it was you or a database that is gone, accept it by `swapd db accept`; if not, the key is in other hands.";
    case "allowance":
      return "`swapd db accept` takes it back.";
    case "cannot-prove":
      if (facts.readUpTo !== undefined) return "It ends by itself once they are read.";
      // Its balance or allowance is refused.
      if (facts.token !== undefined && facts.expected === undefined)
        return "It ends by itself once the token answers again.";
      return "Name an endpoint that keeps logs and start again; accept it by `swapd db accept` only if you know what happened.";
    default:
      return "Restore the database that knows more; if there is none, accept it by `swapd db accept`.";
  }
}

/** What the daemon found itself: a difference while nobody accepted it, then a note. */
export function readFindings({ findings }: Snapshot): { differences: Difference[]; notes: string[] } {
  const known = findings.filter(({ kind }) => kind !== "unchecked");
  return {
    differences: known
      .filter((row) => row.settled_by === null)
      .map((row) => {
        const { id, wallet, kind, text } = row;
        const message = `The daemon found that its database is behind: ${text}. ${adviceOn(row)}`;
        return difference("DATABASE_BEHIND", `${wallet} finding ${id}`, message, { kind });
      }),
    notes: known
      .filter(({ settled_by: by }) => by !== null && by !== "chain")
      .map(({ text, settled_by: by }) => `Accepted by ${by}: ${text}.`),
  };
}

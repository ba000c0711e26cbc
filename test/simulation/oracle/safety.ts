import type { Address } from "../../../src/domain/money/address.ts";
import { TRANSFER_TOPIC, WITHDRAWAL_TOPIC } from "../../../src/domain/run/measure-fill.ts";
import type { SimStrategy } from "../daemon/workload.ts";
import type { FilledOrder, SimChain, SimReceipt } from "../world/chain.ts";
import { outflows, type SimLog } from "../world/ledger.ts";
import type { SimToken } from "../world/places.ts";
import { isNativeAddress, topicOf } from "../world/words.ts";
import { type Capability, fateOf, isBy } from "./capabilities.ts";
import type { Rows } from "./rows.ts";
import type { Report, SigningOracle } from "./signing.ts";

/** What must hold at every instant, also while the daemon is dead: by the chain, and by the rows alone. */
export function checkSafety(parts: {
  chain: SimChain;
  rows: Rows;
  oracle: SigningOracle;
  strategies: readonly SimStrategy[];
  report: Report;
}): void {
  const { chain, rows, oracle, strategies, report } = parts;
  checkBudgets({ chain, oracle, strategies, report });
  const broken = rows.all<{ subject_id: string }>(
    `SELECT later.subject_id FROM transitions AS later WHERE later.from_state IS NOT (
       SELECT earlier.to_state FROM transitions AS earlier
       WHERE earlier.subject_id = later.subject_id AND earlier.id < later.id ORDER BY earlier.id DESC LIMIT 1)`,
  );
  for (const { subject_id } of broken) report("S10", `the transitions of ${subject_id} do not follow one another`);
  const astray = rows.all<{ id: string; state: string }>(
    `SELECT id, state FROM runs UNION ALL SELECT id, state FROM swaps EXCEPT
     SELECT subject_id, to_state FROM transitions WHERE id IN (SELECT max(id) FROM transitions GROUP BY subject_id)`,
  );
  for (const { id, state } of astray) {
    if (state !== "due" && state !== "planned")
      report("S10", `${id} is ${state}, which its last transition does not say`);
  }
  const money = rows.all<{ id: string; state: string; ledger: string }>(
    `SELECT swaps.id, swaps.state, ledger.state AS ledger FROM swaps JOIN ledger ON swap_id = swaps.id WHERE
     ledger.state <> CASE
       WHEN swaps.state IN ('confirmed', 'final') THEN 'spent'
       WHEN swaps.state IN ('skipped', 'denied', 'reverted', 'expired', 'cancelled') THEN 'released'
       ELSE 'reserved' END`,
  );
  for (const { id, state, ledger } of money) report("S11", `${id} is ${state} and its money ${ledger}`);
}

/** What each strategy sold, by the chain alone. */
function soldByStrategy(chain: SimChain, capabilities: readonly Capability[]): ReadonlyMap<string, bigint> {
  const sold = new Map<string, bigint>();
  for (const capability of capabilities) {
    if (fateOf(chain, capability) !== "filled") continue;
    const key = `${capability.strategy} ${capability.token}`;
    sold.set(key, (sold.get(key) ?? 0n) + capability.amount);
  }
  return sold;
}

function checkBudgets(parts: {
  chain: SimChain;
  oracle: SigningOracle;
  strategies: readonly SimStrategy[];
  report: Report;
}): void {
  const { chain, oracle, strategies, report } = parts;
  const { capabilities } = oracle;
  const sold = soldByStrategy(chain, capabilities);
  const remembered = capabilities.filter((capability) => !oracle.isForgotten(capability));
  const soldAndRemembered = soldByStrategy(chain, remembered);
  for (const { id, budget, isRemembered } of strategies) {
    if (budget === undefined) continue;
    if (budget.isOfDay === true) {
      checkDays(chain, { id, capabilities, budget }, report);
      continue;
    }
    const amount = (isRemembered ? soldAndRemembered : sold).get(`${id} ${budget.token}`) ?? 0n;
    if (amount > budget.most) report("S1", `${id} sold ${amount} of its ${budget.most}`);
  }
}

const DAY_SECONDS = 86_400;

/** What a strategy sold in each day, by the blocks' own times: the daemon's clock has no say in it. */
function checkDays(
  chain: SimChain,
  of: { id: string; capabilities: readonly Capability[]; budget: NonNullable<SimStrategy["budget"]> },
  report: Report,
): void {
  const { id, capabilities, budget } = of;
  const days = new Map<number, bigint>();
  for (const capability of capabilities) {
    if (capability.strategy !== id || capability.token !== budget.token) continue;
    const receipt = chain.allReceipts().find((one) => one.succeeded && isBy(one, capability));
    if (receipt === undefined) continue;
    const day = Math.floor(chain.blockAt(receipt.blockNumber).seconds / DAY_SECONDS);
    days.set(day, (days.get(day) ?? 0n) + capability.amount);
  }
  for (const [day, amount] of days)
    if (amount > budget.most) report("S1", `${id} sold ${amount} of its ${budget.most} in the day ${day}`);
}

interface FinalSwap {
  readonly id: string;
  readonly hash: string;
  readonly sold: string;
  readonly bought: string;
  readonly sell_token: string;
  readonly buy_token: string;
  readonly isAssumed: number | null;
  /** of a gasless order that has one */
  readonly nonce: string | null;
}

/** What a transaction, or what one order had of it, paid to the wallet; coins are unwrapped for it. */
function paymentsOf(logs: readonly SimLog[], token: string, owner: Address): bigint[] {
  const isPaid = ({ address, topics }: SimLog): boolean =>
    isNativeAddress(token)
      ? topics[0] === WITHDRAWAL_TOPIC
      : address === token && topics[0] === TRANSFER_TOPIC && topics[2] === topicOf(owner);
  return logs.filter(isPaid).map(({ data }) => BigInt(data));
}

/**
 * A fill bought what its transaction paid for its order. Where orders have no nonce, or two of them sold the same, nothing
 * says which of several payments of a token that was: one of them, or the least that was signed.
 */
function checkBought(
  swap: FinalSwap,
  receipt: SimReceipt,
  { owner, isAlone, report }: { owner: Address; isAlone: boolean; report: Report },
): void {
  const { id, bought, buy_token: token } = swap;
  if (swap.isAssumed === 1) return;
  const isOf = ({ logs }: FilledOrder): boolean =>
    outflows(logs, owner).some((out) => out.token.address === swap.sell_token);
  const orders = receipt.orders.filter(isOf);
  const order = orders.find(({ text }) => messageOf(text).nonce === swap.nonce) ?? orders[0];
  const paid = paymentsOf(receipt.logs, token, owner);
  const own = paymentsOf(order?.logs ?? receipt.logs, token, owner).reduce((sum, amount) => sum + amount, 0n);
  const { nonce, amountOutMin = 0 } = messageOf(order?.text ?? "{}");
  const isTold = order === undefined || (isAlone && nonce !== undefined) || paid.length === 1;
  const may = isTold ? [own] : [...paid, BigInt(amountOutMin)];
  if (!may.includes(BigInt(bought))) report("S3", `${id} says it bought ${bought}, not ${may.join(" or ")}`);
}

function messageOf(text: string): Readonly<Record<string, string>> {
  return (JSON.parse(text) as { message?: Record<string, string> }).message ?? {};
}

/** Everything that left the wallet is the fill of one capability, and every final swap of the rows left it. */
export function checkFills(parts: {
  chain: SimChain;
  rows: Rows;
  wallet: Address;
  oracle: SigningOracle;
  report: Report;
}): void {
  const { chain, rows, wallet: owner, oracle, report } = parts;
  const { capabilities } = oracle;
  const isForgotten = (receipt: SimReceipt, { address }: SimToken): boolean =>
    capabilities.some((one) => one.token === address && oracle.isForgotten(one) && isBy(receipt, one));
  const final = rows.all<FinalSwap>(
    `SELECT id, hash, sold, bought, sell_token, buy_token, nonce, json_extract(body, '$.fill.assumed') AS isAssumed
     FROM swaps WHERE state = 'final'`,
  );
  const claimed = new Set<string>();
  for (const receipt of chain.allReceipts()) {
    if (receipt.blockNumber > chain.finalized.number) continue;
    for (const [token, left] of Map.groupBy(outflows(receipt.logs, owner), (outflow) => outflow.token)) {
      const claims = final.filter(({ hash, sell_token }) => hash === receipt.hash && sell_token === token.address);
      if (claims.length === 0 && isForgotten(receipt, token)) continue;
      const [amounts, sold] = [left.map(({ amount }) => String(amount)), claims.map((swap) => swap.sold)].map((all) =>
        all.toSorted().join(" and "),
      );
      // Two orders that sell one token are filled together where a fork took the first fill back.
      if (claims.length !== left.length) {
        report("S3", `${amounts} of ${token.symbol} left in ${receipt.hash}, which ${claims.length} swaps claim`);
        continue;
      }
      const ids = claims.map(({ id }) => id).join(" and ");
      if (sold !== amounts) report("S3", `${ids} says it sold ${sold}, not ${amounts}`);
      for (const swap of claims) {
        checkBought(swap, receipt, { owner, isAlone: claims.length === 1, report });
        claimed.add(swap.id);
      }
    }
  }
  for (const swaps of Map.groupBy(final, ({ hash, buy_token }) => `${hash} ${buy_token}`).values()) {
    const [{ hash, buy_token }] = swaps as [FinalSwap];
    const paid = paymentsOf(chain.receipt(hash)?.logs ?? [], buy_token, owner).reduce(
      (sum, amount) => sum + amount,
      0n,
    );
    const said = swaps.reduce((sum, { bought }) => sum + BigInt(bought), 0n);
    if (said > paid) report("S3", `${swaps.length} swaps say that ${hash} bought ${said}, not ${paid}`);
  }
  for (const { id, hash, sell_token } of final) {
    const isNative = sell_token === `0x${"0".repeat(40)}`;
    if (!claimed.has(id) && (!isNative || chain.receipt(hash)?.succeeded !== true))
      report("S3", `${id} is final, and nothing left the wallet in ${hash}`);
  }
  for (const [place, all] of Map.groupBy(capabilities, (capability) => capability.place)) {
    const filled = all.filter((capability) => fateOf(chain, capability) === "filled").length;
    if (filled > 1) report("S2", `${place} was filled ${filled} times`);
  }
  for (const capability of capabilities) {
    if (capability.by.kind !== "order") continue;
    const fills = chain.allReceipts().filter((receipt) => receipt.succeeded && isBy(receipt, capability));
    if (fills.length > 1) report("S2", `the order of ${capability.place} was filled ${fills.length} times`);
  }
}

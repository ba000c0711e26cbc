import { spendersIn } from "../../domain/guard/swap-contracts.ts";
import type { Address } from "../../domain/money/address.ts";
import type { Standing } from "../../ports/reconciliation-questions.ts";
import type { Finding, KnownChain } from "../../ports/reconciliation-store.ts";
import type { BaselineRow } from "../../ports/watch-questions.ts";
import { commitAndNotify } from "../alerts.ts";
import { readBaselines } from "../baselines.ts";
import { refusedAsUndefined } from "../perform/node-fault.ts";
import { baselineNow, countNow, knowledgeAt } from "./baseline.ts";
import { exactAmount } from "./exact-amount.ts";
import { alertOfNew, foundChange, newOnes } from "./findings.ts";
import type { ScanContext } from "./patient-chain.ts";
import { readTrades } from "./read-back.ts";
import { assertStands, refusalOf } from "./scan.ts";

/** Where the chain is no longer than this, a wallet that never traded here can be known from the chain alone. */
const PROVABLE_BLOCKS = 100_000;

/** The name of the finding that a database does not know a wallet which may have traded. */
export function newKey(wallet: Address): string {
  return `new ${wallet}`;
}

/**
 * The block that the rows know, as it is written down; for a wallet without one, where it begins.
 * @param rows that were asked for the wallet's `newKey`
 * @returns undefined where the database does not know the wallet: a person decides, and nothing more can be said until then
 */
export async function whereToBegin(
  context: ScanContext,
  wallet: Address,
  rows: Standing,
): Promise<KnownChain | undefined> {
  const { store, marker, chain } = context.deps;
  const known = rows.known.get(wallet);
  if (known !== undefined) return known;
  const seen = marker?.read(wallet);
  if (seen?.baseline !== undefined) {
    // Its balances are lost with the database that knew them: where nodes keep state so old, they show what logs leave out.
    const { baseline } = seen;
    const began = { wallet, ...baseline, balances: new Map(), baseline };
    return await save(context, await knowledgeAt(context, began, baseline.block, { agreed: await chain.agreed() }));
  }
  const tokens = context.settings.tokens.map(({ address }) => address);
  const look = (spender: Address) => store.read({ kind: "first-look", wallet, spender, tokens });
  const { hasSigned, lastBlock } = await look(context.settings.contracts.spender);
  if (hasSigned) {
    const { chainId } = context.settings;
    const { highestNonce: highest } = await store.read({ kind: "lane", account: wallet, chainId });
    const transactionCount =
      highest === undefined ? await countNow(context, wallet, await chain.agreed()) : highest + 1;
    const baseline = { block: lastBlock, transactionCount };
    return await save(context, { wallet, ...baseline, balances: new Map(), baseline });
  }
  if (seen !== undefined || isAcceptedAsNew(rows, wallet))
    return await saveUnsigned(context, await baselineNow(context, wallet));
  const traced = await traceOf(context, wallet, async (spender) => (await look(spender)).granted);
  if (typeof traced === "string") {
    await writeNew(context, wallet, traced);
    return undefined;
  }
  const first = await baselineNow(context, wallet);
  const { block, transactionCount } = first.baseline;
  // What came after the block up to which it never traded is not accepted.
  return await saveUnsigned(context, { ...first, baseline: { block: Math.min(block, traced), transactionCount } });
}

/**
 * The block up to which fills of a wallet are known, no matter who made them: those before its first check were accepted with it
 * at `init`, or are shown by the chain not to be there. Not where a person accepted that the database does not know it:
 * until then an order of a database that is lost may have been filled, and it counts.
 */
export function knownFillsUpTo({ block, baseline, wallet }: KnownChain, rows: Standing): number {
  return isAcceptedAsNew(rows, wallet) ? block : baseline.block;
}

function isAcceptedAsNew({ open, reported }: Standing, wallet: Address): boolean {
  const key = newKey(wallet);
  return reported.has(key) && open.every((one) => one.key !== key);
}

/**
 * The same for a wallet that signed nothing yet: audit and books count from there as well. What its owner did with it until
 * then, perhaps for weeks before they accepted it, would else be a theft for good, which nobody could accept.
 */
async function saveUnsigned(context: ScanContext, first: KnownChain): Promise<KnownChain> {
  const { chain } = context.deps;
  const { block } = first.baseline;
  const of = {
    wallet: first.wallet,
    tokens: [context.settings.native, ...context.settings.tokens],
    tip: (await chain.block(block)) ?? (await chain.latest(block)),
  };
  return await save(context, first, await readBaselines(chain, of).catch(refusedAsUndefined));
}

/**
 * Writes down where a wallet's knowledge begins.
 * @param baselines in place of those that are written down; undefined: they stay
 * @returns what the rows know by now
 */
async function save({ deps }: ScanContext, first: KnownChain, baselines?: readonly BaselineRow[]): Promise<KnownChain> {
  return await commitAndNotify(deps, {
    question: { kind: "standing", keys: [], wallets: [first.wallet] },
    decide: (rows) => {
      const known = rows.known.get(first.wallet);
      return {
        changes: known === undefined ? [{ kind: "known-chain", known: first, baselines }] : [],
        atMs: deps.clock.nowMs(),
        value: known ?? first,
      };
    },
  });
}

/**
 * What the chain shows of trades that the wallet made before: a fill of it in our settlement or an allowance to it, since
 * the first block. The wallet may have had a database that is lost then, and a person has to say. All endpoints are asked:
 * one may leave logs out, or be behind.
 * @returns the block up to which the chain itself shows that it never traded here, where it does
 */
async function traceOf(
  context: ScanContext,
  wallet: Address,
  grantedTo: (spender: Address) => Promise<ReadonlySet<Address>>,
): Promise<string | number> {
  const agreed = await context.deps.chain.agreed();
  const { number } = agreed.latest;
  if (number > PROVABLE_BLOCKS) return `${number} blocks are too many to read back`;
  const asked = { wallet, logs: agreed.logs, fromBlock: 0, toBlock: number };
  const refused = async (error: unknown): Promise<string> => {
    const words = refusalOf(error);
    // Of a block that was replaced meanwhile nodes have nothing, and it is asked again soon.
    await assertStands(context, agreed.latest);
    return words;
  };
  const trades = await readTrades(context, asked).catch(refused);
  if (typeof trades === "string") return `its logs are refused: ${trades}`;
  if (trades[0] !== undefined)
    return `the chain knows ${trades.length} fills of it, the first in block ${trades[0].blockNumber}`;
  for (const spender of spendersIn(context.settings)) {
    const read = (token: Address): Promise<bigint | string> =>
      agreed.highestAllowance({ token, owner: wallet, spender }, number).catch(refused);
    const trace = await allowanceOf(context, { spender, read }, await grantedTo(spender));
    if (trace !== undefined) return trace;
  }
  return number;
}

async function allowanceOf(
  context: ScanContext,
  { spender, read }: { readonly spender: Address; read(token: Address): Promise<bigint | string> },
  granted: ReadonlySet<Address>,
): Promise<string | undefined> {
  const { settings } = context;
  for (const { address: token } of settings.tokens) {
    if (token === settings.native.address || granted.has(token)) continue;
    const amount = await read(token);
    if (typeof amount === "string") return `its allowance of ${token} is refused: ${amount}`;
    if (amount > 0n) return `it allows ${spender} to take ${exactAmount(context, token, amount)}`;
  }
  return undefined;
}

/**
 * Writes down that the database does not know a wallet. Where a person accepted that while the chain was read, the wallet
 * stays unchecked: the check that follows begins with what they accepted.
 */
async function writeNew({ deps }: ScanContext, wallet: Address, trace: string): Promise<void> {
  const { clock, logger } = deps;
  const text = `this database knows nothing of ${wallet}, which may have traded before (${trace}): if there was another database, bring it back with \`swapd restore\`; accepted, budgets, caps and memories begin at nothing`;
  const what = { wallet, token: undefined, kind: "new", scope: "wallet", facts: {} } as const;
  const finding: Finding = { key: newKey(wallet), ...what, text };
  const added = await commitAndNotify(deps, {
    question: { kind: "standing", keys: [finding.key], wallets: [] },
    decide: (rows) => {
      const atMs = clock.nowMs();
      if (isAcceptedAsNew(rows, wallet)) return { changes: [], atMs, value: [] };
      const fresh = newOnes([finding], rows);
      const found = fresh.map((one) => foundChange(clock, one));
      return {
        changes: [
          ...found,
          { kind: "checked", wallet },
          ...alertOfNew(deps, { wallet, added: fresh, open: rows.open }),
        ],
        atMs,
        value: fresh,
      };
    },
  });
  for (const { kind } of added) logger.error({ wallet, kind }, text);
}

import type { Address, Hex } from "../domain/money/address.ts";
import type { Secret } from "../net/secret.ts";
import { type Accepted, readAccepted } from "./accepted.ts";
import { readAcceptedTransactions } from "./accepted-transactions.ts";
import { checkAllowances } from "./allowances.ts";
import { checkBalances } from "./balances.ts";
import { checkBaselines, compareBaselines, readFindings } from "./baselines.ts";
import { placesOf } from "./block-receipts.ts";
import { type ChainReader, createChainReader } from "./chain-reader.ts";
import { type Claims, claimTransactions } from "./claims.ts";
import { paidOut, takenFor } from "./exchange.ts";
import { fillingTransactions, openSwaps } from "./filling-transactions.ts";
import { checkFills, checkLanded, type FillSources } from "./fills.ts";
import { checkIntents, findSigners, type OwnTransaction, ownTransactions, parseAttempts } from "./lane.ts";
import { assertReached } from "./late-nodes.ts";
import { checkLedger } from "./ledger.ts";
import { type Flow, flowsOf, type Movements, readMovements } from "./movements.ts";
import type { Receipt, Tip } from "./node-answers.ts";
import { checkNonces } from "./nonces.ts";
import { findOpenOrders } from "./open-orders.ts";
import { checkClaims, checkNativeFills, checkOutflows, depositsOf, unclaimedOutflows } from "./outflows.ts";
import { checkRecorded } from "./recorded.ts";
import { AuditError, type AuditReport, type Checked, type Difference } from "./report.ts";
import { type IntentRow, isFilled, type SwapRow } from "./rows.ts";
import { checkProposals, proposalsIn, safesIn } from "./safes.ts";
import { checkSignatures, signedFor } from "./signatures.ts";
import { balancesAtStart, findStart, type Since } from "./since.ts";
import { dataVersion, openForReading, readSnapshot, type Snapshot } from "./snapshot.ts";
import { checkStructure } from "./structure.ts";
import { checkCountOfSignatures, checkSoldByTime, checkTotals } from "./totals.ts";
import { checkTraces } from "./traces.ts";
import { type WatchList, watchList } from "./watch-list.ts";

export interface AuditOptions {
  /** file of the daemon's database; it is only read */
  readonly database: string;
  readonly rpcUrl: string | Secret;
  readonly chainId: number;
  readonly wrappedNative: Address;
  /** our settlement contract, whose events are checked against the rows; leave it out for other services */
  readonly settlement?: Address | undefined;
  /** wallets that are Safes, whose owners act for themselves */
  readonly safes?: readonly Address[] | undefined;
  /** most blocks that are read whole, where a node without old state leaves no other way */
  readonly maxScannedBlocks?: number | undefined;
  /** looks only at what came since, and at what is open; leave it out for all of it */
  readonly since?: Since | undefined;
  /** the chain mines no more: what the rows know beyond its newest block is missing, and not waited for */
  readonly hasEnded?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** blocks whose events were read so far, of how many */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

const DEFAULT_MAX_SCANNED_BLOCKS = 5_000;
/** A reorganisation or a busy daemon may spoil one check; three in a row need a person. */
const MAX_PASSES = 3;

/**
 * Checks the daemon's database against the chain. It shares no code with what it checks, writes nothing, and asks the
 * node for no old state: events, receipts, and balances at the tip, counted from the balances that the database
 * recorded when it first saw a wallet.
 *
 * The tip is read first and the database after it. The daemon writes everything down before it does it, so what the
 * chain shows at the tip must be in the database; what the database knows beyond the tip is looked up, but not counted. A
 * node that does not come to what it knows stands still: a younger theft would be called clean, a younger fill a lie.
 *
 * @throws AuditError when database or chain cannot be read, or keep changing under the audit
 */
export async function audit(options: AuditOptions): Promise<AuditReport> {
  const db = openForReading(options.database);
  try {
    const chain = createChainReader(options.rpcUrl, options.signal);
    await refuseWrongChain(chain, options.chainId);
    for (let pass = 1; ; pass += 1) {
      const version = dataVersion(db);
      const tip = await chain.tip();
      const start = options.since === undefined ? undefined : await findStart(chain, options.since, tip);
      const whole = readSnapshot(db, options.database, start);
      if (options.hasEnded !== true) await assertReached(chain, tip, whole);
      const baselines = start === undefined ? whole.baselines : await balancesAtStart(chain, whole.baselines, start);
      const report = await auditOnce(options, { chain, tip, snapshot: { ...whole, baselines } });
      const isSameChain = (await chain.blockHash(tip.number)) === tip.hash;
      if (isSameChain && (report.clean || dataVersion(db) === version || pass >= MAX_PASSES)) return report;
      if (pass < MAX_PASSES) continue;
      const message = `Block ${tip.number} was reorganised away while it was looked at, ${MAX_PASSES} times: audit again later.`;
      throw new AuditError("CHAIN_MOVED", message);
    }
  } finally {
    db.close();
  }
}

async function refuseWrongChain(chain: ChainReader, chainId: number): Promise<void> {
  const actual = await chain.chainId();
  if (actual === chainId) return;
  const message = `The RPC endpoint is on chain ${actual}, and the audit is of chain ${chainId}: name an endpoint of that chain.`;
  throw new AuditError("WRONG_CHAIN", message);
}

interface AuditPass {
  readonly chain: ChainReader;
  readonly tip: Tip;
  readonly snapshot: Snapshot;
}

/** What was read for one check, all of it about the same tip. */
interface Inputs extends AuditPass {
  readonly watch: WatchList;
  /** balances at the tip, in the order of the baselines */
  readonly actual: readonly (bigint | undefined)[];
  readonly counts: ReadonlyMap<Address, number>;
  readonly movements: Movements;
  readonly flows: readonly Flow[];
  readonly attempts: ReturnType<typeof findSigners>;
  readonly claims: Claims;
  readonly receipts: ReadonlyMap<Hex, Receipt>;
  readonly own: readonly OwnTransaction[];
  readonly accepted: Accepted;
}

async function auditOnce(options: AuditOptions, pass: AuditPass): Promise<AuditReport> {
  if (pass.snapshot.chainId !== undefined && pass.snapshot.chainId !== options.chainId) {
    const message = `The database is of chain ${pass.snapshot.chainId}, and the audit is of chain ${options.chainId}.`;
    throw new AuditError("WRONG_CHAIN", message);
  }
  const inputs = await readInputs(options, pass);
  const { chain, tip, snapshot, watch, claims, flows, movements } = inputs;
  const safes = await safesIn(chain, snapshot, { configured: options.safes, tip: tip.number });
  const allowances = await checkAllowances(chain, { snapshot, movements, watch, safes, tip: tip.number });
  const maxScannedBlocks = options.maxScannedBlocks ?? DEFAULT_MAX_SCANNED_BLOCKS;
  const nonces = await checkNonces(chain, {
    ...inputs,
    safes,
    signed: inputs.attempts.signed.filter(({ intent }) => isSinceStart(snapshot, intent)),
    tip: tip.number,
    maxScannedBlocks,
  });
  const foreign = await readAcceptedTransactions(chain, nonces.accepted, maxScannedBlocks);
  const ownTransactions = [...inputs.own, ...foreign.paid];
  const { baselines } = snapshot;
  const balances = checkBalances(
    { ...inputs, ...options, ...foreign, baselines, safes, ownTransactions, tip: tip.number },
    inputs.actual,
  );
  const filledBy = fillingTransactions({ ...inputs, signed: inputs.attempts.signed });
  const fills = fillSources(inputs, options);
  const unclaimed = unclaimedOutflows(flows, inputs).filter(({ wallet }) => !safes.has(wallet));
  const orders = await findOpenOrders(chain, { snapshot, claims, unclaimed }, options);
  const findings = readFindings(snapshot);
  const differences = [
    ...findings.differences,
    ...(await compareBaselines(chain, snapshot)),
    ...checkRows(snapshot, options.chainId),
    ...inputs.attempts.differences,
    ...checkIntents(snapshot, inputs.attempts.signed, inputs),
    ...(await checkRecorded(chain, inputs)),
    ...nonces.differences,
    ...checkFills(snapshot.swaps.values(), fills),
    ...checkLanded(filledBy, fills),
    ...checkProposals(snapshot, inputs.receipts),
    ...checkClaims(filledBy, {
      paid: (hash, swap) => paidOut(swap, inputs.receipts.get(hash), options.wrappedNative),
      taken: (hash, swap) => takenFor(swap, inputs.receipts.get(hash), options.wrappedNative),
    }),
    ...checkOutflows(unclaimed, orders, watch),
    ...checkNativeFills(movements.fills, inputs, watch),
    ...balances.differences,
    ...allowances.differences,
  ];
  return {
    clean: differences.length === 0,
    chainId: options.chainId,
    tip,
    differences,
    openSwaps: openSwaps(snapshot, filledBy),
    deposits: [...depositsOf(flows, claims, watch), ...balances.deposits],
    openAllowances: allowances.open,
    notes: [...nonces.notes, ...foreign.notes, ...balances.notes, ...allowances.notes, ...findings.notes],
    checked: countChecked(inputs, allowances.count),
  };
}

async function readInputs(options: AuditOptions, pass: AuditPass): Promise<Inputs> {
  const { chain, tip, snapshot } = pass;
  const watch = watchList(snapshot, options.wrappedNative);
  // Nodes keep the state of a block for some minutes only: balances and nonces before the long search for events.
  const actual = await chain.balances(snapshot.baselines, tip.number);
  const counts = await readCounts(chain, watch, tip.number);
  const movements = await readMovements(chain, watch, {
    tip: tip.number,
    settlement: options.settlement,
    wrappedNative: options.wrappedNative,
    onProgress: options.onProgress ?? (() => undefined),
  });
  const flows = flowsOf(movements.transfers, watch);
  const { parsed, differences } = parseAttempts(snapshot, options.chainId);
  const claims = claimTransactions(snapshot, { fills: movements.fills, flows });
  const hashes = new Set([...claims.hashes, ...parsed.map(({ hash }) => hash)]);
  const receipts = await chain.receipts([...hashes], placesOf(snapshot, [...movements.fills, ...flows], tip));
  movements.assertListed(receipts.values());
  const found = findSigners(parsed, receipts);
  const attempts = { ...found, differences: [...differences, ...found.differences] };
  const own = ownTransactions(attempts.signed, receipts);
  const accepted = readAccepted(snapshot);
  return { ...pass, watch, actual, counts, movements, flows, attempts, claims, receipts, own, accepted };
}

/** Nonces have no hole from the start on; an older transaction is read only for the swap that it belongs to. */
function isSinceStart({ start }: Snapshot, { mined_block_number: mined }: IntentRow): boolean {
  return start === undefined || mined === null || mined > start.block;
}

/** Checks that need no chain. */
function checkRows(snapshot: Snapshot, chainId: number): Difference[] {
  return [
    ...snapshot.differences,
    ...checkBaselines(snapshot),
    ...checkStructure(snapshot),
    ...checkTraces(snapshot),
    ...checkLedger(snapshot),
    ...checkTotals(snapshot),
    ...checkSoldByTime(snapshot),
    ...checkCountOfSignatures(snapshot),
    ...checkSignatures(snapshot, chainId),
  ];
}

function countChecked({ watch, snapshot, actual, own, movements }: Inputs, allowances: number): Checked {
  return {
    wallets: watch.wallets.size,
    runs: snapshot.runs.length,
    swaps: snapshot.swaps.size,
    fills: [...snapshot.swaps.values()].filter(isFilled).length,
    transitions: snapshot.histories.count,
    transactions: own.length,
    transfers: movements.transfers.length,
    balances: actual.filter((balance) => balance !== undefined).length,
    allowances,
    signatures: snapshot.signatures.length,
    blocks: movements.blocks,
  };
}

async function readCounts(chain: ChainReader, watch: WatchList, tip: number): Promise<ReadonlyMap<Address, number>> {
  const counts = new Map<Address, number>();
  for (const wallet of watch.wallets) {
    const count = await chain.transactionCount(wallet, tip);
    if (count === undefined) {
      const message = `The node has no state of its own block ${tip}, so nonces cannot be audited: name another endpoint.`;
      throw new AuditError("CHAIN_UNREADABLE", message);
    }
    counts.set(wallet, count);
  }
  return counts;
}

function fillSources({ snapshot, receipts, attempts, claims }: Inputs, options: AuditOptions): FillSources {
  const values = new Map(attempts.signed.map(({ hash, value }) => [hash, value]));
  const [routers, proposals] = [signedFor(snapshot), proposalsIn(snapshot)];
  return {
    ...{ receipts, wrappedNative: options.wrappedNative, settlement: options.settlement },
    claimedBy: claims.of,
    valueOf: (hash: Hex) => values.get(hash) ?? 0n,
    proposedAs: ({ id }: SwapRow) => proposals.get(id)?.digest,
    routerOf: (swap: SwapRow) =>
      swap.mode === "gasless" ? routers.get(swap.id) : snapshot.intents.get(swap.intent_id ?? "")?.to_address,
  };
}

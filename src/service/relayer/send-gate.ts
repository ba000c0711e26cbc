import type { Head } from "../../chain/at-block/head.ts";
import { type JsonRpc, RpcError } from "../../chain/json-rpc.ts";
import type { Address, Hex } from "../../domain/money/address.ts";
import type { TipRule } from "../../domain/money/tip.ts";
import type { CancelAnswer } from "../../lane/cancel-intent.ts";
import type { IntentRow } from "../../ports/lane-store.ts";
import type { Logger } from "../../ports/logger.ts";
import type { SettledNetwork } from "../options.ts";
import { SETTLEMENT_INTERFACE } from "../settlement/calldata.ts";
import type { ServiceStore } from "../store/service-store.ts";
import { gasAfterRefund, leastFeeWorth, relayGasPrice, shortFee, worstCost } from "./gas-terms.ts";
import type { LossShares } from "./loss-shares.ts";
import type { Places } from "./places.ts";
import type { RelayBook } from "./relay-book.ts";
import { readBalance } from "./signatures.ts";
import { type RelaySimulation, simulateRelay } from "./simulate-relay.ts";

export interface GateDependencies {
  readonly rpc: JsonRpc;
  readonly head: () => Promise<Head>;
  readonly book: RelayBook;
  readonly store: ServiceStore;
  /** accepted swaps without a nonce, oldest first */
  readonly waiting: () => readonly IntentRow[];
  /** what has a nonce and is not paid for yet */
  readonly inFlight: () => readonly IntentRow[];
  /** wei that a further transaction may cost, besides what is in flight */
  readonly maySpend: () => bigint;
  readonly losses: Pick<LossShares, "against">;
  /** why a swap that works again has no place, by its wallet's balance */
  readonly placeAgain: Places["refusalAgain"];
  readonly cancel: (intentId: string, by: string) => Promise<CancelAnswer>;
  readonly logger: Logger;
}

/** Checks swaps once more before their transactions are signed. */
export interface SendGate {
  /** Simulates what waits, once a block, so that what stopped working is known by the time its place is asked for. */
  check(): Promise<void>;
  /** false: not at this block. A swap is kept until its deadline: the market or the gas price may come back. */
  isWorthSending(intent: IntentRow): Promise<boolean>;
  /** why a swap was not sent when it was last checked */
  lastReason(intentId: string): string | undefined;
  /** whether a swap holds no place: by the last check of it, or because there was none since the start */
  isIdle(intentId: string): boolean;
}

/** Who ends a swap that can no longer happen, as the rows and the record name it. */
const THE_CHAIN = "the chain, on which the order's nonce is used,";
/** Who ends a swap that has not worked for longest, when too many do not. */
export const THE_RELAYER = "the relayer, which keeps only so many swaps that would not work,";

/** How a reason begins that is neither what a swap costs nor the want of a place. */
export const WOULD_REVERT = "it would revert";
/** Swaps that would not work: so many are kept, and of those so many are tried again in a block, in turn. */
const MAX_IDLE = 100;
const IDLE_CHECKED_IN_A_BLOCK = 8;
/** Without figures: the record is for everybody. */
const UNAFFORDABLE = "it could have cost more than the relayer may spend";
const MAX_REMEMBERED = 1_000;
/** Simulations that the node is asked for at the same time. */
const SIMULATIONS_AT_ONCE = 8;

/** By its height a block is not told from another one that took its place. */
const nameOf = ({ hash }: Head): Hex => hash;

interface GateCheck {
  /** the newest one at which it was tried */
  readonly block: Hex;
  readonly reason: string | undefined;
}

export interface GateOptions {
  readonly relayer: Address;
  readonly network: SettledNetwork;
  readonly feeMarginPpm: bigint;
  /** undefined: as nodes suggest */
  readonly tips?: TipRule;
}

/**
 * A swap may wait behind others for a while, and the relayer pays for reverts: so what was checked at acceptance is
 * checked again on the newest block, once a block. What does not work is tried with the others and never before them.
 */
export function createSendGate(options: GateOptions, dependencies: GateDependencies): SendGate {
  const { book, logger } = dependencies;
  const checks = createGateChecks(options, dependencies);
  const unaffordable = new Set<string>();

  /** What a swap could cost is checked against what may be spent at the moment of sending. */
  function isAffordable(intent: IntentRow): boolean {
    const { id } = intent;
    const atMost = worstCost(intent, book.terms(id)?.dataFee ?? 0n);
    const maySpend = dependencies.maySpend();
    const beyondShare = dependencies.losses.against(intent, dependencies.inFlight());
    if (atMost <= maySpend && beyondShare === undefined) return true;
    if (unaffordable.size >= MAX_REMEMBERED) unaffordable.clear();
    unaffordable.add(id);
    logger.debug(
      { intentId: id, atMost, maySpend, beyondShare: beyondShare?.detail },
      "a swap waits: it could cost more than may be spent now",
    );
    return false;
  }

  return {
    async check() {
      try {
        if (dependencies.waiting().length > 0) await checks.atAll();
      } catch (error) {
        // The lane and every request report a node that does not answer.
        if (!(error instanceof RpcError)) throw error;
      }
    },
    async isWorthSending(intent) {
      try {
        await checks.atAll();
        if (checks.isIdle(intent.id)) return false;
        return (await checks.at(intent)) && isAffordable(intent);
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        return false;
      }
    },
    lastReason: (intentId) => checks.reason(intentId) ?? (unaffordable.has(intentId) ? UNAFFORDABLE : undefined),
    isIdle: checks.isIdle,
  };
}

/** What simulations of waiting swaps showed. */
interface GateChecks {
  /** Simulates what waits, where the newest block was not checked yet; else it reads no rows. @throws RpcError */
  atAll(): Promise<void>;
  /** Whether a swap works at the newest block. @throws RpcError */
  at(intent: IntentRow): Promise<boolean>;
  isIdle(intentId: string): boolean;
  reason(intentId: string): string | undefined;
}

/** What each swap's last check found; what was tried longest ago comes first. */
function createLookNotes(waiting: readonly IntentRow[]) {
  const checks = new Map<string, GateCheck>();
  // What it was before a restart, whether it held a place, was never written down.
  const unknown = new Set(waiting.map(({ id }) => id));
  const works = (id: string) => checks.get(id)?.reason === undefined;
  return {
    checks,
    works,
    isIdle: (id: string) => unknown.has(id) || !works(id),
    note(id: string, check: GateCheck): void {
      checks.delete(id);
      checks.set(id, check);
      unknown.delete(id);
    },
  };
}

function createGateChecks(options: GateOptions, dependencies: GateDependencies): GateChecks {
  const { rpc, logger } = dependencies;
  const { network, relayer: from } = options;
  const judge = createJudge(options, dependencies);
  const { checks, works, isIdle, note } = createLookNotes(dependencies.waiting());
  let checking: Promise<void> | undefined;
  let checkedBlock: Hex | undefined;

  async function tryAt(intent: IntentRow, head: Head): Promise<void> {
    const { id, to, data, gasLimit } = intent;
    const simulated = await simulateRelay(rpc, { from, to, data, gasLimit }, network);
    const earlier = checks.get(id)?.reason;
    const against = (isTooLate(simulated) ? earlier : undefined) ?? judge.reasonAgainst(intent, simulated, head);
    const place = against === undefined && isIdle(id) ? await judge.placeAgain(intent) : undefined;
    // Asked in the instant in which it is taken: others may take places while a balance is read.
    const reason = against ?? place?.refusal();
    if (reason !== undefined && earlier !== reason) {
      logger.warn({ intentId: id, reason }, "an accepted swap is not worth sending now");
    }
    note(id, { block: nameOf(head), reason });
    if (simulated.kind === "reverts") await judge.endIfUsed(intent);
  }

  async function checkIntent(intent: IntentRow, head: Head): Promise<void> {
    try {
      await tryAt(intent, head);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      logger.warn({ intentId: intent.id, error: error.message }, "a swap could not be simulated before sending");
    }
  }

  async function checkAll(head: Head): Promise<void> {
    const waiting = new Map(dependencies.waiting().map((intent) => [intent.id, intent]));
    for (const id of checks.keys()) if (!waiting.has(id)) checks.delete(id);
    const idle = [...checks.keys()].flatMap((id) => (works(id) ? [] : (waiting.get(id) ?? [])));
    for (const intent of idle.splice(0, Math.max(0, idle.length - MAX_IDLE))) {
      await dependencies.cancel(intent.id, THE_RELAYER);
    }
    const working = [...waiting.values()].filter(({ id }) => works(id));
    const due = [...working, ...idle.slice(0, IDLE_CHECKED_IN_A_BLOCK)];
    for (let start = 0; start < due.length; start += SIMULATIONS_AT_ONCE) {
      await Promise.all(due.slice(start, start + SIMULATIONS_AT_ONCE).map((intent) => checkIntent(intent, head)));
    }
    checkedBlock = nameOf(head);
  }

  return {
    async atAll() {
      const head = await dependencies.head();
      if (checkedBlock === nameOf(head)) return;
      checking ??= checkAll(head).finally(() => {
        checking = undefined;
      });
      await checking;
    },
    async at(intent) {
      const head = await dependencies.head();
      // What was accepted since the check of this block was simulated then, perhaps at an older one.
      if (checks.get(intent.id)?.block !== nameOf(head)) await checkIntent(intent, head);
      return checks.get(intent.id)?.block === nameOf(head) && !isIdle(intent.id);
    },
    isIdle,
    reason: (intentId) => checks.get(intentId)?.reason,
  };
}

/** That its time is over says nothing of what kept a swap from being sent until then. */
const isTooLate = (simulated: RelaySimulation): boolean =>
  simulated.kind === "reverts" && simulated.reason.startsWith("DeadlinePassed(");

/** Judges what a simulation showed. */
function createJudge(
  { network, feeMarginPpm, tips }: GateOptions,
  { rpc, book, store, losses, cancel, placeAgain }: GateDependencies,
): {
  reasonAgainst(intent: IntentRow, simulated: RelaySimulation, head: Head): string | undefined;
  placeAgain(intent: IntentRow): Promise<{ refusal(): string | undefined } | undefined>;
  endIfUsed(intent: IntentRow): Promise<void>;
} {
  return {
    reasonAgainst(intent, simulated, head) {
      if (simulated.kind === "reverts") return `${WOULD_REVERT} ${simulated.reason}`;
      const beyondShare = losses.against(intent);
      if (beyondShare !== undefined) return `${UNAFFORDABLE}: ${beyondShare.detail}`;
      const { gasLimit } = intent;
      if (simulated.gas > gasLimit) return `it needs ${simulated.gas} gas, and ${gasLimit} is its limit`;
      const row = store.swapBy("intent_id", intent.id);
      const refund = (row === undefined ? undefined : store.quote(row.quoteId)?.gasRefund) ?? 0n;
      const used = gasAfterRefund(simulated.gas, refund);
      const dataFee = simulated.dataFee(used);
      const cost = used * relayGasPrice(head, tips) + dataFee;
      const needed = leastFeeWorth({ cost, marginPpm: feeMarginPpm });
      const terms = book.terms(intent.id);
      if (terms === undefined || terms.feeWorth >= needed) return undefined;
      return `its fee is ${shortFee({ worth: terms.feeWorth, needed, dataFee })}`;
    },
    /** Reads what it takes to say whether a swap that works again has a place. @throws RpcError */
    async placeAgain(intent) {
      const row = store.swapBy("intent_id", intent.id);
      if (row === undefined) return undefined;
      const balance = await readBalance(rpc, row);
      return {
        refusal() {
          const refusal = placeAgain(row, balance);
          return refusal === undefined ? undefined : `it has no place: ${refusal.detail ?? refusal.error}`;
        },
      };
    },
    /** Only a finalised block says that an order can never be filled any more. */
    async endIfUsed(intent) {
      const row = store.swapBy("intent_id", intent.id);
      if (row === undefined) return;
      const data = SETTLEMENT_INTERFACE.encodeFunctionData("isNonceUsed", [row.wallet, row.nonce]);
      const answer = await rpc.call("eth_call", [{ to: network.settlement, data }, "finalized"]);
      if (typeof answer === "string" && /^0x[0-9a-f]{64}$/i.test(answer) && BigInt(answer) === 1n) {
        await cancel(intent.id, THE_CHAIN);
      }
    },
  };
}

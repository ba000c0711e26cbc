import type { Address } from "../../domain/money/address.ts";
import type { CancelAnswer } from "../../lane/cancel-intent.ts";
import { type JsonRpc, RpcError } from "../../net/json-rpc.ts";
import type { IntentRow } from "../../ports/lane-store.ts";
import type { Logger } from "../../ports/logger.ts";
import type { Head } from "../chain/head.ts";
import type { SettledNetwork } from "../options.ts";
import { SETTLEMENT_INTERFACE } from "../settlement/calldata.ts";
import type { ServiceStore } from "../store/service-store.ts";
import { costNamed, gasAfterRefund, leastFeeWorth, worstDataFee } from "./gas-terms.ts";
import type { RelayBook } from "./relay-book.ts";
import { tryOut } from "./trial.ts";

export interface GateDependencies {
  readonly rpc: JsonRpc;
  readonly head: () => Promise<Head>;
  readonly book: RelayBook;
  readonly store: ServiceStore;
  readonly mayLose: () => bigint;
  readonly cancel: (intentId: string, by: string) => CancelAnswer;
  readonly logger: Logger;
}

/** Looks at a swap once more before its transaction is signed. */
export interface SendGate {
  /** false: not at this block. A swap is kept until its deadline: the market or the gas price may come back. */
  isWorthSending(intent: IntentRow): Promise<boolean>;
  /** why a swap was not sent when it was last looked at */
  lastReason(intentId: string): string | undefined;
}

/** Who ends a swap that can no longer happen, as the rows and the record name it. */
const THE_CHAIN = "the chain, on which the order's nonce is used,";

/** Reasons beyond this many are of swaps long over. */
const MOST_REASONS = 1_000;

/**
 * A swap may wait behind others for a while, and the relayer pays for reverts: so what was checked at acceptance is
 * checked again on the newest block, once a block.
 */
export function createSendGate(
  options: { relayer: Address; network: SettledNetwork; feeMarginPpm: bigint },
  dependencies: GateDependencies,
): SendGate {
  const { rpc, book, logger } = dependencies;
  const { network } = options;
  const looked = new Map<string, { readonly block: number; readonly reason: string }>();

  async function reasonAgainst(intent: IntentRow, head: Head): Promise<string | undefined> {
    const { gasLimit, maxFeePerGasCap } = intent;
    const mayLose = dependencies.mayLose();
    const terms = book.terms(intent.id);
    const atMost = gasLimit * maxFeePerGasCap + worstDataFee(terms?.dataFee ?? 0n);
    if (atMost > mayLose) return `it could cost ${atMost} wei, and only ${mayLose} may still be lost today`;
    const { to, data } = intent;
    const trial = await tryOut(rpc, { from: options.relayer, to, data, gasLimit }, network);
    if (trial.kind === "reverts") {
      await endIfUsed(intent);
      return `it would revert ${trial.reason}`;
    }
    if (trial.gas > gasLimit) return `it needs ${trial.gas} gas, and ${gasLimit} is its limit`;
    const used = gasAfterRefund(trial.gas, refundOf(intent));
    const dataFee = trial.dataFee(used);
    const cost = used * head.gasPrice + dataFee;
    const needed = leastFeeWorth({ cost, marginPpm: options.feeMarginPpm });
    if (terms === undefined || terms.feeWorth >= needed) return undefined;
    return `its fee is worth ${terms.feeWorth} wei, and ${costNamed(dataFee)} with the margin costs ${needed}`;
  }

  function refundOf(intent: IntentRow): bigint {
    const row = dependencies.store.swapBy("intent_id", intent.id);
    return (row === undefined ? undefined : dependencies.store.quote(row.quoteId)?.gasRefund) ?? 0n;
  }

  /** Only a finalised block says that an order can never be filled any more. */
  async function endIfUsed(intent: IntentRow): Promise<void> {
    const row = dependencies.store.swapBy("intent_id", intent.id);
    if (row === undefined) return;
    const data = SETTLEMENT_INTERFACE.encodeFunctionData("isNonceUsed", [row.wallet, row.nonce]);
    const answer = await rpc.call("eth_call", [{ to: network.settlement, data }, "finalized"]);
    if (typeof answer === "string" && /^0x[0-9a-f]{64}$/i.test(answer) && BigInt(answer) === 1n) {
      dependencies.cancel(intent.id, THE_CHAIN);
    }
  }

  return {
    async isWorthSending(intent) {
      try {
        const head = await dependencies.head();
        if (looked.get(intent.id)?.block === head.number) return false;
        const reason = await reasonAgainst(intent, head);
        if (looked.size > MOST_REASONS) looked.clear();
        if (reason === undefined) {
          looked.delete(intent.id);
          return true;
        }
        if (looked.get(intent.id)?.reason !== reason) {
          logger.warn({ intentId: intent.id, reason }, "an accepted swap is not worth sending now");
        }
        looked.set(intent.id, { block: head.number, reason });
        return false;
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        logger.warn({ intentId: intent.id, error: error.message }, "a swap could not be tried out before sending");
        return false;
      }
    },
    lastReason: (intentId) => looked.get(intentId)?.reason,
  };
}

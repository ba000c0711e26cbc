import type { Decoding, PinnedSettlement, ProposedTransaction } from "../../../domain/guard/decoded-swap.ts";
import type { Hex } from "../../../domain/money/address.ts";
import type { ServiceProfile } from "../../../ports/swap-service.ts";
import { readPackedSwap } from "./packed-swap.ts";
import { buildTypedSwap, decodeTypedSwap, type TypedSwapPin } from "./typed-swap.ts";

const PIN: TypedSwapPin = { domain: { name: "Magpie Router", version: "3" }, hasNonce: false };

/** `swapWithMagpieSignature(bytes)`: the entry point of self-execution, with the service's own signature inside. */
const SELF_EXECUTED_SELECTOR: Hex = "0x73fc4457";

/**
 * The hosted service Fly, formerly Magpie, of the generation whose domain is `Magpie Router`/`3`. Wire-compatible by its
 * published clients and recorded transactions; untested against the live host.
 * Its signatures carry no nonce: deadline and allowance alone bound a replay.
 */
export const flyProfile: ServiceProfile = {
  name: "fly",
  idempotentExecuteSwap: false,
  signatureHasNonce: false,
  expectedLimits: { keyless: 50, keyed: 200 },
  decodeTypedData: (typedData, pinned) => decodeTypedSwap(PIN, typedData, pinned),
  decodeTransaction,
  typedData: (swap, pinned) => buildTypedSwap(PIN, swap, pinned),
  nonceRecord: undefined,
};

function decodeTransaction(transaction: ProposedTransaction, _pinned: PinnedSettlement): Decoding {
  const selector = transaction.data.slice(0, 10);
  if (selector !== SELF_EXECUTED_SELECTOR) {
    return {
      ok: false,
      problem: `the selector is ${selector}, only swapWithMagpieSignature (${SELF_EXECUTED_SELECTOR}) is known`,
    };
  }
  const packed = readPackedSwap(transaction.data);
  if (!packed.ok) return packed;
  const { order, affiliate, permit } = packed.call;
  const gross = order.amountIn + order.swapFee + (affiliate?.fee ?? 0n);
  return {
    ok: true,
    swap: {
      ...order,
      router: transaction.to,
      sender: undefined,
      nonce: undefined,
      affiliate,
      // A permit inside this calldata always covers the gross amount: its value is not packed but recomputed.
      permitValue: permit ? gross : undefined,
    },
  };
}

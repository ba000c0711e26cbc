import { recoverAddress, TypedDataEncoder } from "ethers";
import type {
  DecodedSwap,
  Decoding,
  PinnedSettlement,
  ProposedTransaction,
} from "../../../domain/guard/decoded-swap.ts";
import { oneContract } from "../../../domain/guard/swap-contracts.ts";
import { type Hex, toAddress } from "../../../domain/money/address.ts";
import type { ServiceProfile } from "../../../ports/swap-service.ts";
import type { SwapServiceKind } from "../service-kind.ts";
import { createWireClient } from "../wire/client.ts";
import { buildTypedSwap, decodeTypedSwap, type TypedSwapPin } from "../wire/typed-swap.ts";
import { readPackedSwap } from "./packed-swap.ts";

const PIN: TypedSwapPin = { domain: { name: "Magpie Router", version: "3" }, hasNonce: false };

/** `swapWithMagpieSignature(bytes)`: the entry point of self-execution, with the service's own signature inside. */
const SELF_EXECUTED_SELECTOR: Hex = "0x73fc4457";

/** Signs the orders of self-execution: recovered from recorded transactions on two networks. */
const SERVICE_SIGNER = toAddress("0x28de4113921bd79388b0ef80a259f871977442e9");

/**
 * The hosted service Fly, formerly Magpie, of the generation whose domain is `Magpie Router`/`3`. Wire-compatible by its
 * published clients and recorded transactions; untested against the live host.
 * Its signatures carry no nonce: deadline and allowance alone bound a replay.
 */
export const flyProfile: ServiceProfile = {
  isOurs: false,
  mayBeEmbedded: false,
  takesOrders: true,
  paysAffiliates: true,
  hasOneContract: true,
  contractsOn: () => ({}),
  signsTransactions: true,
  idempotentExecuteSwap: false,
  signatureHasNonce: false,
  expectedLimits: { keyless: 50, keyed: 200 },
  decodeTypedData: (typedData, pinned) => decodeTypedSwap(PIN, typedData, pinned),
  decodeTransaction,
  typedData: (swap, pinned) => buildTypedSwap(PIN, swap, pinned),
  nonceRecord: undefined,
  // Its calldata for the relayer carries the signature that is to be given.
  simulationOfOrder: undefined,
};

/** The hosted service Fly. */
export const fly: SwapServiceKind = {
  profile: flyProfile,
  open: (options, dependencies) =>
    createWireClient({ profile: flyProfile, takesTimeLimit: false, recordsByQuoteAlone: false }, options, dependencies),
};

function decodeTransaction(transaction: ProposedTransaction, pinned: PinnedSettlement): Decoding {
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
  const swap: DecodedSwap = {
    ...order,
    contracts: oneContract(transaction.to),
    sender: undefined,
    nonce: undefined,
    affiliate,
    // A permit inside this calldata always covers the gross amount: its value is not packed but recomputed.
    permitValue: permit ? gross : undefined,
  };
  const problem = signatureProblem({ ...swap, sender: transaction.from }, packed.call.signature, pinned);
  return problem === undefined ? { ok: true, swap } : { ok: false, problem };
}

/** The router takes the order from its service's signature alone, so an order that another account signed is not the service's. */
function signatureProblem(swap: DecodedSwap, signature: Hex, pinned: PinnedSettlement): string | undefined {
  if (swap.sender === undefined) return "the transaction names no sender, so its signature cannot be checked";
  const known = pinned.signer ?? SERVICE_SIGNER;
  const { domain, types, message } = buildTypedSwap(PIN, swap, pinned);
  const mutableTypes = Object.fromEntries(Object.entries(types).map(([name, fields]) => [name, [...fields]]));
  let seen: string;
  try {
    seen = recoverAddress(TypedDataEncoder.hash(domain, mutableTypes, message), signature).toLowerCase();
  } catch {
    // The library throws at bytes that are no signature, which says as much as a wrong one.
    return "the order's signature is none";
  }
  return seen === known ? undefined : `the order is signed by ${seen}, not by the service's pinned signer ${known}`;
}

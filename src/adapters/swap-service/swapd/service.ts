import type { Decoding, PinnedSettlement } from "../../../domain/guard/decoded-swap.ts";
import { oneContract } from "../../../domain/guard/swap-contracts.ts";
import type { TypedData } from "../../../domain/guard/typed-data.ts";
import type { ServiceProfile } from "../../../ports/swap-service.ts";
import type { SwapServiceKind } from "../service-kind.ts";
import { createWireClient } from "../wire/client.ts";
import { buildTypedSwap, decodeTypedSwap, type TypedSwapPin } from "../wire/typed-swap.ts";
import { decodeSwapCall, encodeOwnSwap } from "./calldata.ts";
import { SWAPD_FILLS } from "./fills.ts";

const PIN: TypedSwapPin = { domain: { name: "swapd", version: "1" }, hasNonce: true };

/** Our own aggregation service: signatures carry a nonce, `execute-swap` is idempotent by quote id. */
export const swapdProfile: ServiceProfile = {
  isOurs: true,
  mayBeEmbedded: true,
  takesOrders: true,
  paysAffiliates: true,
  hasOneContract: true,
  contractsOn: ({ settlement }) => (settlement === undefined ? {} : oneContract(settlement)),
  signsTransactions: false,
  idempotentExecuteSwap: true,
  signatureHasNonce: true,
  expectedLimits: { keyless: 50, keyed: 200 },
  decodeTypedData: decodeSignedSwap,
  decodeTransaction: decodeSwapCall,
  typedData: (swap, pinned) => buildTypedSwap(PIN, swap, pinned),
  simulationOfOrder: encodeOwnSwap,
  nonceRecord: SWAPD_FILLS,
};

/** The contract's events name a signed swap by its nonce, and all self-executed ones by zero: one of them would be taken for it. */
function decodeSignedSwap(typedData: TypedData, pinned: PinnedSettlement): Decoding {
  const decoding = decodeTypedSwap(PIN, typedData, pinned);
  if (!decoding.ok || decoding.swap.nonce !== 0n) return decoding;
  return { ok: false, problem: "the message has the nonce 0, by which self-executed swaps go" };
}

/** Our own service, embedded or elsewhere. */
export const swapd: SwapServiceKind = {
  profile: swapdProfile,
  open: (options, dependencies) =>
    createWireClient({ profile: swapdProfile, takesTimeLimit: true, recordsByQuoteAlone: true }, options, dependencies),
};

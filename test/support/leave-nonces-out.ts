import { swapdProfile } from "../../src/adapters/swap-service/swapd/service.ts";
import type { FakeService } from "./fake-service.ts";

/** Orders of this service carry no nonce: whatever took the sold token is looked for as their fill. */
export function leaveNoncesOut(service: FakeService): void {
  const { decodeTypedData, typedData } = swapdProfile;
  service.profile = {
    ...swapdProfile,
    ...{ idempotentExecuteSwap: false, signatureHasNonce: false, nonceRecord: undefined },
    decodeTypedData: (data, pinned) => {
      const decoded = decodeTypedData(data, pinned);
      return decoded.ok ? { ...decoded, swap: { ...decoded.swap, nonce: undefined } } : decoded;
    },
    typedData: (swap, pinned) => typedData({ ...swap, nonce: swap.nonce ?? 7n }, pinned),
  };
  service.twist = (swap) => (swap.nonce === undefined ? swap : { ...swap, nonce: 7n });
}

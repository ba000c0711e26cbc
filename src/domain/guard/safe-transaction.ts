import { type Address, NATIVE_TOKEN } from "../money/address.ts";
import { approval } from "./approval.ts";
import { encodeMultiSend, type SafeCall } from "./multi-send.ts";
import { markCall } from "./once-mark.ts";
import { SAFE_CONTRACTS, type SafeVersion } from "./safe-contracts.ts";
import type { TypedData } from "./typed-data.ts";

/** The swap that a Safe's owners are asked for: these calls, all of them or none. */
export interface SafeProposal {
  readonly chainId: number;
  readonly safe: Address;
  readonly version: SafeVersion;
  /** the Safe's own: one transaction at most is executed with it */
  readonly nonce: bigint;
  readonly calls: readonly SafeCall[];
}

/** What a proposal's calls are made of. */
export interface ProposedCalls {
  readonly safe: Address;
  /** of the swap in its run */
  readonly place: string;
  readonly token: Address;
  readonly spender: Address;
  readonly gross: bigint;
  /** the spender may take something already: some tokens are allowed anew from zero only */
  readonly isAllowed: boolean;
  readonly swap: SafeCall;
}

/** Marks the place as done, allows exactly what is sold, swaps, and takes back whatever the swap left of it. */
export function proposedCalls({
  safe,
  place,
  token,
  spender,
  gross,
  isAllowed,
  swap,
}: ProposedCalls): readonly SafeCall[] {
  const approve = (amount: bigint): SafeCall => ({ to: token, value: 0n, data: approval(spender, amount) });
  return [markCall(safe, place), ...(isAllowed ? [approve(0n)] : []), approve(gross), swap, approve(0n)];
}

const SAFE_TX = [
  ["address", "to"],
  ["uint256", "value"],
  ["bytes", "data"],
  ["uint8", "operation"],
  ["uint256", "safeTxGas"],
  ["uint256", "baseGas"],
  ["uint256", "gasPrice"],
  ["address", "gasToken"],
  ["address", "refundReceiver"],
  ["uint256", "nonce"],
] as const;

/** Safe's operations: 1 runs the code of `to` with the Safe's own rights. */
const DELEGATE_CALL = "1";

/** What owners sign of a proposal: their Safe runs the pinned MultiSendCallOnly of its version, and refunds nobody. */
export function safeTypedData({ chainId, safe, version, nonce, calls }: SafeProposal): TypedData {
  return {
    domain: { chainId: String(chainId), verifyingContract: safe },
    types: { SafeTx: SAFE_TX.map(([type, name]) => ({ name, type })) },
    primaryType: "SafeTx",
    message: {
      ...{ to: SAFE_CONTRACTS[version].multiSendCallOnly, value: "0", data: encodeMultiSend(calls) },
      ...{ operation: DELEGATE_CALL, safeTxGas: "0", baseGas: "0", gasPrice: "0" },
      ...{ gasToken: NATIVE_TOKEN, refundReceiver: NATIVE_TOKEN, nonce: nonce.toString() },
    },
  };
}

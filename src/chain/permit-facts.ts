import type { Address } from "../domain/money/address.ts";
import type { PermitFacts } from "../ports/chain.ts";
import { decodeTokenAnswer, encodeTokenCall } from "./abi.ts";
import { findPermit, type ViewToken } from "./permit-domain.ts";

/**
 * Finds the EIP-712 domain of a token's EIP-2612 permit, and the owner's next nonce. A token that has permits of another
 * type, or in a domain that is not bound to it and to its chain, has none.
 */
export async function readPermitFacts(
  { token, owner, chainId }: { token: Address; owner: Address; chainId: number },
  call: ViewToken,
): Promise<PermitFacts | undefined> {
  const [permit, answer] = await Promise.all([
    findPermit({ address: token, chainId }, call),
    call(encodeTokenCall("nonces", [owner])),
  ]);
  const nonce = answer === undefined ? undefined : decodeTokenAnswer("nonces", answer);
  if (permit.kind !== "eip-2612" || nonce === undefined) return undefined;
  return { domain: { ...permit.domain }, nonce: BigInt(String(nonce[0])) };
}

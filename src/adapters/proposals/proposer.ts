import { SAFE_CONTRACTS } from "../../domain/guard/safe-contracts.ts";
import type { TypedData } from "../../domain/guard/typed-data.ts";
import type { Address } from "../../domain/money/address.ts";
import type { Signer } from "../../ports/signer.ts";

/** The contracts that a proposal may run, of all versions. */
const RUNNERS: readonly string[] = Object.values(SAFE_CONTRACTS).map(({ multiSendCallOnly }) => multiSendCallOnly);

/**
 * A delegate's key, for proposals to one Safe on one chain and for nothing else. Whatever else is asked for is a broken
 * invariant: the key might have power somewhere, whatever its owner believes.
 */
export function createProposer(signer: Signer, of: { readonly safe: Address; readonly chainId: number }): Signer {
  const { address } = signer;
  const refuse = (what: string): never => {
    throw new Error(`the delegate ${address} signs proposals to the Safe ${of.safe} alone, and was asked for ${what}`);
  };
  return {
    address,
    signTransaction: async () => refuse("a transaction"),
    signTypedData: async (typedData) =>
      isProposal(typedData, of) ? await signer.signTypedData(typedData) : refuse(`a ${typedData.primaryType}`),
  };
}

function isProposal(
  { domain, types, primaryType, message }: TypedData,
  { safe, chainId }: { readonly safe: Address; readonly chainId: number },
): boolean {
  const isOfSafe = domain.verifyingContract === safe && String(domain.chainId) === String(chainId);
  const isSafeTx = primaryType === "SafeTx" && Object.keys(types).join() === "SafeTx";
  return isOfSafe && isSafeTx && Object.keys(domain).length === 2 && RUNNERS.includes(String(message.to));
}

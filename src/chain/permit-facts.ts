import { id, type TypedDataDomain, TypedDataEncoder } from "ethers";
import { type Address, type Hex, toAddress } from "../domain/money/address.ts";
import type { PermitFacts } from "../ports/chain.ts";
import { decodeTokenAnswer, encodeTokenCall, type TokenCall } from "./abi.ts";

const PERMIT_TYPE_HASH = id("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");

/** Versions that tokens use without telling. */
const COMMON_VERSIONS = ["1", "2"];

/** The meaning of the bits of EIP-5267, in the order of the standard. */
const DOMAIN_BITS = { name: 1, version: 2, chainId: 4, verifyingContract: 8, salt: 16 } as const;

/**
 * Finds the EIP-712 domain of a token's EIP-2612 permit. A domain counts only when its separator, computed here, is the
 * one that the token states, and only when it binds the chain and the token itself, so that a signature works nowhere
 * else. A token that states another permit type (the older one of DAI) has none.
 * @param call a view call of the token; undefined when it reverts
 */
export async function readPermitFacts(
  request: { token: Address; owner: Address; chainId: number },
  call: (data: Hex) => Promise<Hex | undefined>,
): Promise<PermitFacts | undefined> {
  async function view(name: TokenCall, args: readonly Address[] = []) {
    const answer = await call(encodeTokenCall(name, args));
    return answer === undefined ? undefined : decodeTokenAnswer(name, answer);
  }
  const [separator, nonce, typeHash] = await Promise.all([
    view("DOMAIN_SEPARATOR"),
    view("nonces", [request.owner]),
    view("PERMIT_TYPEHASH"),
  ]);
  if (separator === undefined || nonce === undefined) return undefined;
  if (typeHash !== undefined && typeHash[0] !== PERMIT_TYPE_HASH) return undefined;
  const [described, name, version] = await Promise.all([view("eip712Domain"), view("name"), view("version")]);
  const candidates = [
    ...(described === undefined ? [] : [describedDomain(described)]),
    ...(name === undefined ? [] : guessedDomains(request, String(name[0]), version?.[0])),
  ];
  const domain = candidates.find(
    (candidate) => isBound(candidate, request) && TypedDataEncoder.hashDomain(candidate) === separator[0],
  );
  return domain === undefined ? undefined : { domain: { ...domain }, nonce: BigInt(String(nonce[0])) };
}

function describedDomain(described: ArrayLike<unknown>): TypedDataDomain {
  const bits = Number(described[0]);
  const has = (field: keyof typeof DOMAIN_BITS) => (bits & DOMAIN_BITS[field]) !== 0;
  return {
    ...(has("name") ? { name: String(described[1]) } : {}),
    ...(has("version") ? { version: String(described[2]) } : {}),
    ...(has("chainId") ? { chainId: BigInt(String(described[3])) } : {}),
    ...(has("verifyingContract") ? { verifyingContract: toAddress(String(described[4])) } : {}),
    ...(has("salt") ? { salt: String(described[5]) } : {}),
  };
}

function guessedDomains(
  request: { token: Address; chainId: number },
  name: string,
  version: unknown,
): readonly TypedDataDomain[] {
  const bound = { name, chainId: BigInt(request.chainId), verifyingContract: request.token };
  const versions = new Set([...(typeof version === "string" ? [version] : []), ...COMMON_VERSIONS]);
  return [...[...versions].map((candidate) => ({ ...bound, version: candidate })), bound];
}

function isBound(domain: TypedDataDomain, request: { token: Address; chainId: number }): boolean {
  return domain.chainId === BigInt(request.chainId) && domain.verifyingContract === request.token;
}

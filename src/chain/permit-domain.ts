import { id, type TypedDataDomain, TypedDataEncoder } from "ethers";
import { type Address, type Hex, toAddress } from "../domain/money/address.ts";
import { decodeTokenAnswer, encodeTokenCall, type TokenCall } from "./abi.ts";
import { toQuantity } from "./quantity.ts";

/** An EIP-712 domain that is bound to a chain and a token, so that a signature in it works nowhere else. */
export interface PermitDomain {
  readonly name?: string;
  readonly version?: string;
  readonly chainId: bigint;
  readonly verifyingContract: Address;
}

/** What permits a token says it has, and proves by the hash of their domain. */
export type StatedPermit =
  | { readonly kind: "eip-2612"; readonly domain: PermitDomain }
  | { readonly kind: "dai-style" }
  /** it has permits, in a domain that nothing proves, that has a salt, or that holds elsewhere too */
  | { readonly kind: "other-domain" }
  | { readonly kind: "none" };

/** A view call of the token; undefined when it reverts. */
export type ViewToken = (data: Hex) => Promise<Hex | undefined>;

/** The types of EIP-2612, as typed data states them. */
export const PERMIT_TYPES = {
  Permit: [
    { name: "owner", type: "address" },
    { name: "spender", type: "address" },
    { name: "value", type: "uint256" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
};

const EIP_2612 = id("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
const DAI_STYLE = id("Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)");

/** Versions that tokens use without telling. */
const COMMON_VERSIONS = ["1", "2"];

/** The meaning of the bits of EIP-5267, in the order of the standard. */
const DOMAIN_BITS = { name: 1, version: 2, chainId: 4, verifyingContract: 8, salt: 16 } as const;

/**
 * Finds the domain that a token's permits are signed in. A candidate counts only when its hash is the separator that
 * the token states: a permit in a wrong domain looks valid to all but the token.
 */
export async function findPermit(
  token: { readonly address: Address; readonly chainId: number },
  call: ViewToken,
): Promise<StatedPermit> {
  const view = async (name: TokenCall) => {
    const answer = await call(encodeTokenCall(name, []));
    return answer === undefined ? undefined : decodeTokenAnswer(name, answer);
  };
  const [separator, typeHash, described] = await Promise.all([
    view("DOMAIN_SEPARATOR"),
    view("PERMIT_TYPEHASH"),
    view("eip712Domain"),
  ]);
  if (typeHash?.[0] === DAI_STYLE) return { kind: "dai-style" };
  if (typeHash !== undefined && typeHash[0] !== EIP_2612) return { kind: "none" };
  if (separator === undefined) return { kind: described === undefined ? "none" : "other-domain" };
  const [name, version] = await Promise.all([view("name"), view("version")]);
  const candidates = [
    ...(described === undefined ? [] : [describedDomain(described)]),
    ...(name === undefined ? [] : guessedDomains(token, String(name[0]), version?.[0])),
  ];
  const found = candidates.find((candidate) => TypedDataEncoder.hashDomain(candidate) === separator[0]);
  if (found === undefined) return { kind: "none" };
  return isBound(found, token) ? { kind: "eip-2612", domain: found } : { kind: "other-domain" };
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

/** What tokens use; the bridged form of some has the chain in a salt instead of a number of its own. */
function guessedDomains(
  token: { readonly address: Address; readonly chainId: number },
  name: string,
  version: unknown,
): readonly TypedDataDomain[] {
  const bound = { chainId: BigInt(token.chainId), verifyingContract: token.address };
  const salt = `0x${toQuantity(token.chainId).slice(2).padStart(64, "0")}`;
  const versions = [...new Set([...(typeof version === "string" ? [version] : []), ...COMMON_VERSIONS])];
  return [
    ...versions.map((candidate) => ({ name, version: candidate, ...bound })),
    { name, ...bound },
    ...versions.map((candidate) => ({ name, version: candidate, verifyingContract: token.address, salt })),
  ];
}

/** A salt is what those who rebuild what they sign do not expect. */
function isBound(
  domain: TypedDataDomain,
  token: { readonly address: Address; readonly chainId: number },
): domain is PermitDomain {
  const { chainId, verifyingContract, salt } = domain;
  return salt === undefined && chainId === BigInt(token.chainId) && verifyingContract === token.address;
}

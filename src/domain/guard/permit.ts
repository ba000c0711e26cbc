import type { Address } from "../money/address.ts";
import type { Denial } from "./denial.ts";
import type { TypedData } from "./typed-data.ts";

/** What the token itself says and proves about its permit. */
export interface PermitSource {
  /** EIP-712 domain whose separator equals the token's own */
  readonly domain: Readonly<Record<string, unknown>>;
  /** next permit nonce of the owner */
  readonly nonce: bigint;
}

/** Whom the permit lets spend how much, until when. */
export interface PermitTerms {
  readonly chainId: number;
  readonly token: Address;
  readonly owner: Address;
  /** the pinned spender */
  readonly spender: Address;
  /** exactly the gross amount, in the smallest unit of the token */
  readonly value: bigint;
  /** Unix seconds, up to uint256 as an order says it: whether that is too far is checked elsewhere */
  readonly deadlineSeconds: bigint;
}

/** Field order of EIP-2612: `Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)`. */
const PERMIT_FIELDS = [
  { name: "owner", type: "address" },
  { name: "spender", type: "address" },
  { name: "value", type: "uint256" },
  { name: "nonce", type: "uint256" },
  { name: "deadline", type: "uint256" },
] as const;

const DOMAIN_KEYS = new Set(["name", "version", "chainId", "verifyingContract", "salt"]);

/**
 * Builds the permit of one gasless swap. Nothing in it comes from the service.
 * @returns the typed data, or the denial PERMIT_UNSUPPORTED when the token's domain is not bound to this chain and to
 * the token itself: such a signature could be used elsewhere
 */
export function buildPermit(
  source: PermitSource | undefined,
  terms: PermitTerms,
): { ok: true; typedData: TypedData } | { ok: false; denial: Denial } {
  const problem = source === undefined ? "the token proves no EIP-2612 domain" : domainProblem(source.domain, terms);
  if (source === undefined || problem !== undefined) {
    return {
      ok: false,
      denial: { code: "PERMIT_UNSUPPORTED", fields: { token: terms.token, problem: problem ?? "no domain" } },
    };
  }
  return {
    ok: true,
    typedData: {
      domain: { ...source.domain },
      types: { Permit: PERMIT_FIELDS },
      primaryType: "Permit",
      message: {
        owner: terms.owner,
        spender: terms.spender,
        value: terms.value.toString(),
        nonce: source.nonce.toString(),
        deadline: terms.deadlineSeconds.toString(),
      },
    },
  };
}

function domainProblem(domain: Readonly<Record<string, unknown>>, terms: PermitTerms): string | undefined {
  const unknown = Object.keys(domain).find((key) => !DOMAIN_KEYS.has(key));
  if (unknown !== undefined) return `the domain has the unknown field ${JSON.stringify(unknown)}`;
  const { chainId, verifyingContract } = domain;
  if (chainId === undefined || String(chainId) !== terms.chainId.toString()) {
    return `the domain is bound to chain ${String(chainId)}, not to ${terms.chainId}`;
  }
  if (typeof verifyingContract !== "string" || verifyingContract.toLowerCase() !== terms.token) {
    return `the domain is bound to the contract ${String(verifyingContract)}, not to the token ${terms.token}`;
  }
  return undefined;
}

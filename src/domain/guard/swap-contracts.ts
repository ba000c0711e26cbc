import type { Address } from "../money/address.ts";

/** The contracts that a service's swaps go through, each by what it may do. Where one contract is all three, see {@link oneContract}. */
export interface SwapContracts {
  /** takes the sold token out of the wallet: it alone is approved, by a transaction or by a permit */
  readonly spender: Address;
  /** is called by our own transaction, and gets the native coin that it sells */
  readonly target: Address;
  /** checks the signature of an order: the contract of its EIP-712 domain */
  readonly verifyingContract: Address;
}

/** What a contract is to a swap. */
export type ContractRole = keyof SwapContracts;

/** The contracts that a quote, calldata or an order names itself; the others are bound by what we build. */
export type StatedContracts = { readonly [role in ContractRole]?: Address | undefined };

/** The roles, in the order in which they are bound. */
export const CONTRACT_ROLES = ["target", "spender", "verifyingContract"] as const satisfies readonly ContractRole[];

const NAMES: Readonly<Record<ContractRole, string>> = {
  spender: "spender",
  target: "target",
  verifyingContract: "verifying contract",
};

/** One contract that takes the tokens, is called and checks the orders. */
export function oneContract(address: Address): SwapContracts {
  return { spender: address, target: address, verifyingContract: address };
}

/** The contract that is all three, undefined where they differ. */
function onlyContract({ spender, target, verifyingContract }: SwapContracts): Address | undefined {
  return spender === target && target === verifyingContract ? target : undefined;
}

/** A contract, and what people call it. */
export interface NamedContract {
  readonly name: string;
  readonly address: Address;
  /** undefined where it is all three */
  readonly role: ContractRole | undefined;
}

/** Each of the contracts by its name; one entry where it is the same for all three. */
export function namedContracts(contracts: SwapContracts): readonly NamedContract[] {
  const only = onlyContract(contracts);
  if (only !== undefined) return [{ name: "settlement contract", address: only, role: undefined }];
  return CONTRACT_ROLES.map((role) => ({ name: NAMES[role], address: contracts[role], role }));
}

/** The pinned contracts of a service, of which some have further ones apart: each swap goes through one of the sets. */
export interface PinnedContracts {
  readonly contracts: SwapContracts;
  readonly furtherContracts?: readonly SwapContracts[] | undefined;
}

/**
 * The set that a swap is bound to: of those that are pinned the one whose target its quote names. Where that is none of them
 * it is the first, and what the quote names is denied.
 */
export function contractsFor(
  { contracts, furtherContracts = [] }: PinnedContracts,
  quote: { readonly targetAddress?: Address | undefined } | undefined,
): SwapContracts {
  return furtherContracts.find(({ target }) => target === quote?.targetAddress) ?? contracts;
}

/** Every contract that may take tokens, each once. */
export function spendersIn({ contracts, furtherContracts = [] }: PinnedContracts): readonly Address[] {
  return [...new Set([contracts, ...furtherContracts].map(({ spender }) => spender))];
}

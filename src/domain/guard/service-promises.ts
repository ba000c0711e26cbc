import type { Address } from "../money/address.ts";
import type { StatedContracts, SwapContracts } from "./swap-contracts.ts";

/** What a service may need to know of a network to say which contracts are its. */
export interface NetworkOfService {
  readonly chainId: number;
  /** our own settlement contract, where the network has one that is known */
  readonly settlement: Address | undefined;
  /** the public router that stands there for everybody, likewise */
  readonly router: Address | undefined;
  /** further ones, likewise */
  readonly furtherRouters?: readonly { readonly address: Address }[];
}

/**
 * What a swap service promises and which contracts its swaps go through: written down in its folder, and never learnt
 * from the service itself.
 */
export interface ServicePromises {
  /** its settlement contract is ours: the audit knows its events */
  readonly isOurs: boolean;
  /** our own aggregation service speaks it, so it may be embedded */
  readonly mayBeEmbedded: boolean;
  /** orders can be signed for it: without them nothing is gasless */
  readonly takesOrders: boolean;
  /** a share of what is sold can go to somebody else */
  readonly paysAffiliates: boolean;
  /** one contract takes the tokens, is called and checks the orders: a configuration cannot name them apart */
  readonly hasOneContract: boolean;
  /** Its contracts on a network, as far as they are known; the configuration may name others. */
  contractsOn(network: NetworkOfService): StatedContracts;
  /** Further sets of contracts on it, of which a quote may name one; the configuration cannot name others. Absent: none. */
  furtherOn?(network: NetworkOfService): readonly SwapContracts[];
  /** nothing of a swap may stay in the contract that is called: anybody could take it from there */
  readonly targetKeepsNothing?: boolean | undefined;
  /** our transactions carry a signature of the service's, by an account that the configuration may name */
  readonly signsTransactions: boolean;
  /**
   * An order is filled once, by a nonce that it carries. Without one an order stays open after its fill too, until its
   * deadline, for as long as the allowance lasts.
   */
  readonly signatureHasNonce: boolean;
  /** an identical submission of an order may be repeated: it stays one swap */
  readonly idempotentExecuteSwap: boolean;
}

/** Every service that there is, by the name of its profile. */
export type ServiceBook = ReadonlyMap<string, ServicePromises>;

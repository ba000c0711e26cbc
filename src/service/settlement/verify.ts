import { TypedDataEncoder } from "ethers";
import type { JsonRpc } from "../../chain/json-rpc.ts";
import { type Address, toAddress } from "../../domain/money/address.ts";
import { isSettled, type NetworkOptions, type PublicRouter, type SettledNetwork } from "../options.ts";
import { executorList, isUnlistedByEarlier } from "../pools/kinds.ts";
import { settlementDomain } from "./order.ts";
import { verifyRouter } from "./verify-router.ts";
import { readViews, WrongContractsError } from "./views.ts";

/** What is known of the contracts of one network. */
export interface ContractCheck {
  /** @throws WrongContractsError, or RpcError when the node does not answer properly */
  verify(head: { readonly timestamp: number }): Promise<void>;
  /** the executor; undefined where no settlement is, and where no node has shown the settlement's own yet */
  executor(): Address | undefined;
  /** whether the executor computes pools by their code; one of an earlier release does not */
  computes(): boolean;
  /** how many protocols the executor lists; one of an earlier release may lack the last ones */
  listed(): number;
  /** what each public router trades with; undefined where none is used, or no node has shown it */
  routed(): RoutedPlaces | undefined;
  /** why further routers are left out */
  leftOut(): readonly string[];
  /**
   * Looks at those once more.
   * @returns the ones that are used from now on
   * @throws RpcError when the node does not answer properly
   */
  lookAgain(): Promise<readonly Address[]>;
}

/** Places of the protocols that a public router trades with, by its address. */
export type RoutedPlaces = ReadonlyMap<Address, ReadonlySet<number>>;
/** Why routers are left out, by their addresses. */
type LeftOut = ReadonlyMap<Address, string>;
type RoutedNetwork = NetworkOptions & { readonly router: PublicRouter };

interface Routers {
  readonly routed: RoutedPlaces;
  readonly leftOut: LeftOut;
}

export function createContractCheck(rpc: JsonRpc, network: NetworkOptions): ContractCheck {
  let executor = network.executor;
  let routed: RoutedPlaces | undefined;
  let leftOut: LeftOut = new Map();
  let computes = true;
  let listed = Number.POSITIVE_INFINITY;
  const verify = async (): Promise<void> => {
    const { router } = network;
    if (isSettled(network)) ({ executor, computes, listed } = await verifySettlement(rpc, network));
    else if (router !== undefined) ({ routed, leftOut } = await verifyRouters(rpc, { ...network, router }));
  };
  return {
    verify: ({ timestamp }) =>
      verify().catch((error: unknown) => {
        throw error instanceof WrongContractsError ? new WrongContractsError(error.message, timestamp) : error;
      }),
    executor: () => executor,
    computes: () => computes,
    listed: () => listed,
    routed: () => routed,
    leftOut: () => [...leftOut.values()],
    lookAgain: async () => {
      const { router, furtherRouters = [] } = network;
      if (router === undefined || leftOut.size === 0) return [];
      const left = furtherRouters.filter(({ address }) => leftOut.has(address));
      const found = await verifyFurther(rpc, { ...network, router, furtherRouters: left });
      routed = new Map([...(routed ?? []), ...found.routed]);
      leftOut = found.leftOut;
      return [...found.routed.keys()];
    },
  };
}

/** The first one has to be what the network's facts say. A further one that is not is left out: all goes on without it. */
async function verifyRouters(rpc: JsonRpc, network: RoutedNetwork): Promise<Routers> {
  const first = await verifyRouter(rpc, network);
  const { routed, leftOut } = await verifyFurther(rpc, network);
  return { routed: new Map([[network.router.address, first], ...routed]), leftOut };
}

async function verifyFurther(rpc: JsonRpc, { furtherRouters = [], ...network }: RoutedNetwork): Promise<Routers> {
  const routed = new Map<Address, ReadonlySet<number>>();
  const leftOut = new Map<Address, string>();
  for (const router of furtherRouters) {
    try {
      routed.set(router.address, await verifyRouter(rpc, { ...network, router }));
    } catch (error) {
      if (!(error instanceof WrongContractsError)) throw error;
      leftOut.set(router.address, error.message);
    }
  }
  return { routed, leftOut };
}

type Verified = Pick<SettledNetwork, "name" | "chainId" | "wrappedNative" | "protocols" | "settlement" | "executor">;

/**
 * Checks the two contracts' own views against the facts of their network.
 * @returns the settlement's executor, which never changes, whether it computes pools by their code, and how many protocols
 * it lists
 * @throws WrongContractsError that names the first difference; RpcError when the node does not answer properly
 */
export async function verifySettlement(
  rpc: JsonRpc,
  network: Verified,
): Promise<{ executor: Address; computes: boolean; listed: number }> {
  const { settlement } = network;
  const wanted = executorList(network.protocols);
  const what = "the settlement of swapd";
  const own = await readViews(rpc, { name: network.name, contract: settlement, what }, [
    { view: "executor" },
    { view: "wrappedNative" },
    { view: "DOMAIN_SEPARATOR" },
  ]);
  const executor = toAddress(own(0));
  const compare = (name: string, actual: string, wanted: string): void => {
    if (actual === wanted) return;
    const difference = `${name} is ${actual} on ${network.name}, the configuration says ${wanted}`;
    throw new WrongContractsError(`${difference}: correct the addresses`);
  };
  compare("the settlement's executor", executor, network.executor ?? executor);
  compare("the settlement's wrapped native token", own(1), network.wrappedNative);
  const domain = settlementDomain({ chainId: network.chainId, address: settlement });
  compare("the settlement's signature domain", own(2), TypedDataEncoder.hashDomain(domain));
  const its = await readViews(rpc, { name: network.name, contract: executor, what }, [
    { view: "protocolCount" },
    ...wanted.map((_, index) => ({ view: "protocols", values: [index] })),
  ]);
  const listed = Number(its(0));
  const isEarlier = listed < wanted.length && network.protocols.slice(listed, wanted.length).every(isUnlistedByEarlier);
  if (!isEarlier) compare("the number of the executor's protocols", its(0), String(wanted.length));
  for (const [index, { kind, factory, feePips }] of wanted.slice(0, listed).entries()) {
    compare(`the executor's protocol ${index}`, its(index + 1), `${kind} ${factory} ${feePips}`);
  }
  return { executor, computes: await verifyHashes(rpc, network, executor), listed };
}

/**
 * By another hash than the one of the book the executor would ask the factory for each pool, and pay no recipient
 * itself: swaps as safe, and dearer than they are said to be. One of an earlier release has none, and does just that.
 * @returns whether it has any
 */
async function verifyHashes(rpc: JsonRpc, network: Verified, executor: Address): Promise<boolean> {
  const known = network.protocols.flatMap(({ initCodeHash }, index) => (initCodeHash ? [{ index, initCodeHash }] : []));
  const its = await readViews(
    rpc,
    { name: network.name, contract: executor, what: "the executor of swapd" },
    known.map(({ index }) => ({ view: "initCodeHashes", values: [index], isOptional: true })),
  );
  let computes = true;
  for (const [place, { index, initCodeHash }] of known.entries()) {
    const actual = its(place);
    if (actual === "") computes = false;
    if (actual === "" || actual === initCodeHash) continue;
    const what = `the executor computes the pools of its protocol ${index} on ${network.name} by the code ${actual}`;
    throw new WrongContractsError(`${what}, the configuration says ${initCodeHash}: correct initCodeHash`);
  }
  return computes;
}

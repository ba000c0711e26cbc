import { Interface, keccak256, TypedDataEncoder } from "ethers";
import { malformedAnswer } from "../../chain/at-block/head.ts";
import { type JsonRpc, RpcError } from "../../chain/json-rpc.ts";
import { isFailedCall } from "../../chain/node-errors.ts";
import { type Address, type Hex, isHex, toAddress } from "../../domain/money/address.ts";
import { isSettled, type NetworkOptions, type PublicRouter, type SettledNetwork } from "../options.ts";
import { kindOf } from "../pools/kinds.ts";
import type { RouterForm } from "../pools/pool.ts";
import { settlementDomain } from "./order.ts";

const CONTRACTS = new Interface([
  "function executor() view returns (address)",
  "function wrappedNative() view returns (address)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function protocolCount() view returns (uint256)",
  "function protocols(uint256 index) view returns (uint8 kind, address factory, uint24 feePips)",
  "function factory() view returns (address)",
  "function factoryV2() view returns (address)",
  "function WETH9() view returns (address)",
]);

/** The contracts on the chain are not the configured ones: they would take signatures and money meant for these. */
export class WrongContractsError extends Error {
  /** Unix seconds of the newest block that the node had then: it may be catching up */
  readonly newestBlock: number | undefined;

  constructor(message: string, newestBlock?: number) {
    super(message);
    this.name = "WrongContractsError";
    this.newestBlock = newestBlock;
  }
}

/** What is known of the contracts of one network. */
export interface ContractCheck {
  /** @throws WrongContractsError, or RpcError when the node does not answer properly */
  verify(head: { readonly timestamp: number }): Promise<void>;
  /** the executor; undefined where no settlement is, and where no node has shown the settlement's own yet */
  executor(): Address | undefined;
  /** places of the protocols that the public router trades with; undefined where none is used, or no node has shown them */
  routed(): ReadonlySet<number> | undefined;
}

export function createContractCheck(rpc: JsonRpc, network: NetworkOptions): ContractCheck {
  let executor = network.executor;
  let routed: ReadonlySet<number> | undefined;
  const verify = async (): Promise<void> => {
    const { router } = network;
    if (isSettled(network)) executor = await verifySettlement(rpc, network);
    else if (router !== undefined) routed = await verifyRouter(rpc, { ...network, router });
  };
  return {
    verify: ({ timestamp }) =>
      verify().catch((error: unknown) => {
        throw error instanceof WrongContractsError ? new WrongContractsError(error.message, timestamp) : error;
      }),
    executor: () => executor,
    routed: () => routed,
  };
}

type Routed = Pick<NetworkOptions, "name" | "wrappedNative" | "protocols"> & { readonly router: PublicRouter };

/**
 * Holds a public router against the facts of its network: its code where its hash is stated, the wrapped native token, and
 * the factories whose pools it computes. Some routers are older than one of the factories: they do without its pools.
 * @returns the places of the protocols that it trades with
 * @throws WrongContractsError that names the first difference; RpcError when the node does not answer properly
 */
async function verifyRouter(rpc: JsonRpc, network: Routed): Promise<ReadonlySet<number>> {
  const { name, router, protocols } = network;
  const own = await readViews(rpc, { name, contract: router.address, what: "Uniswap's SwapRouter02" }, [
    { view: "WETH9" },
    { view: "factory" },
    { view: "factoryV2" },
  ]);
  const wrong = (difference: string): Error =>
    new WrongContractsError(`the router ${router.address} on ${name} ${difference}: correct the addresses`);
  if (own(0) !== network.wrappedNative) throw wrong(`wraps into ${own(0)}, not ${network.wrappedNative}`);
  if (router.codeHash !== undefined) {
    const [code] = await rpc.batch([{ method: "eth_getCode", params: [router.address, "latest"] }]);
    if (code instanceof RpcError) throw code;
    if (!isHex(code)) throw malformedAnswer(rpc.host, "the node's answer to eth_getCode is no bytes");
    const hash = keccak256(code);
    if (hash !== router.codeHash) throw wrong(`has code with the hash ${hash}, not ${router.codeHash}`);
  }
  const factories: Readonly<Record<RouterForm, string>> = { v3: own(1), v2: own(2) };
  const usable = protocols.flatMap((protocol, place) => {
    const { routerForm } = kindOf(protocol);
    return routerForm !== undefined && factories[routerForm] === protocol.factory ? [place] : [];
  });
  if (usable.length > 0) return new Set(usable);
  throw wrong(`trades with pools of ${factories.v3} and ${factories.v2}, and the network's factories are none of them`);
}

type Verified = Pick<SettledNetwork, "name" | "chainId" | "wrappedNative" | "protocols" | "settlement" | "executor">;

/**
 * Checks the two contracts' own views against the facts of their network.
 * @returns the settlement's executor, which never changes
 * @throws WrongContractsError that names the first difference; RpcError when the node does not answer properly
 */
export async function verifySettlement(rpc: JsonRpc, network: Verified): Promise<Address> {
  const { settlement, protocols } = network;
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
    ...protocols.map((_, index) => ({ view: "protocols", values: [index] })),
  ]);
  compare("the number of the executor's protocols", its(0), String(protocols.length));
  for (const [index, protocol] of protocols.entries()) {
    const { executorKind } = kindOf(protocol).leg;
    const wanted = `${executorKind} ${protocol.factory} ${protocol.feePips}`;
    compare(`the executor's protocol ${index}`, its(index + 1), wanted);
  }
  return executor;
}

interface View {
  readonly view: string;
  readonly values?: readonly unknown[];
}

/** Asks a contract for several views at once; each answer is checked when it is asked for. */
async function readViews(
  rpc: JsonRpc,
  { name, contract, what }: { name: string; contract: Address; what: string },
  views: readonly View[],
): Promise<(index: number) => string> {
  const answers = await rpc.batch(
    views.map(({ view, values = [] }) => {
      const data = CONTRACTS.encodeFunctionData(view, values);
      return { method: "eth_call", params: [{ to: contract, data }, "latest"] };
    }),
  );
  return (index) => {
    const answer = answers[index];
    const view = views[index]?.view ?? "";
    if (answer instanceof RpcError && !isFailedCall(answer)) throw answer;
    if (answer instanceof RpcError || answer === "0x") {
      const missing = `the contract at ${contract} on ${name} has no ${view}()`;
      throw new WrongContractsError(`${missing}: is this ${what}?`);
    }
    if (!isHex(answer)) throw malformedAnswer(rpc.host, `the node's answer to ${view}() is no bytes`);
    return decoded(view, answer, rpc.host);
  };
}

function decoded(view: string, answer: Hex, host: string): string {
  try {
    return CONTRACTS.decodeFunctionResult(view, answer).toArray().map(String).join(" ").toLowerCase();
  } catch {
    throw malformedAnswer(host, `the node's answer to ${view}() is malformed`);
  }
}

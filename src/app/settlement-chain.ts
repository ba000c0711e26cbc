import { Interface } from "ethers";
import { readViewWord } from "../chain/at-block/batch-reader.ts";
import { parseQuantity } from "../chain/at-block/head.ts";
import { readAddress } from "../chain/at-block/words.ts";
import { joinRpcs } from "../chain/joined-rpc.ts";
import { createJsonRpc, type JsonRpc } from "../chain/json-rpc.ts";
import { WrongChainError } from "../chain/unusable-chain.ts";
import type { Configuration } from "../config/configuration.ts";
import { type Address, type Hex, isHex } from "../domain/money/address.ts";
import type { Secret } from "../net/secret.ts";
import { loadContract, loadRuntimeCode } from "../sandbox/artifacts.ts";
import { exactDataFee } from "../service/data-fees/op-stack.ts";
import { executorList, MOST_LISTED } from "../service/pools/kinds.ts";
import { differenceOf, executorImmutables, settlementImmutables } from "../service/settlement/code-check.ts";
import { DEPLOYER, type PlannedContract, planDeployment } from "../service/settlement/deployment.ts";
import { verifySettlement } from "../service/settlement/verify.ts";
import { WrongContractsError } from "../service/settlement/views.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";

/** Where the settlement contracts of a network are, or will be. */
export interface SettlementPlace {
  readonly settlement: Address;
  readonly executor: Address;
}

const MAX_RPC_ANSWER_BYTES = 4_000_000;

/** All endpoints of a network as one. Of several, each shows that it serves the network's chain before it is asked. */
export function joinEndpoints(
  urls: readonly [Secret, ...Secret[]],
  { network, timing }: Pick<Configuration, "network" | "timing">,
): JsonRpc {
  const rpcs = urls.map((url) =>
    createJsonRpc({ url, timeoutMs: timing.requestTimeoutMs, maxBytes: MAX_RPC_ANSWER_BYTES }),
  );
  const [first, ...others] = rpcs;
  if (first === undefined) throw new Error("there is always a first endpoint");
  if (others.length === 0) return first;
  const proved = new Set<JsonRpc>();
  const useless = new Set<JsonRpc>();
  let inUse = first;
  const members = rpcs.map((rpc) => ({ rpc, rank: () => (useless.has(rpc) ? 1 : 0) }));
  return joinRpcs(members, {
    host: () => inUse.host,
    async prove({ rpc }) {
      if (!proved.has(rpc)) {
        useless.add(rpc);
        const actual = parseQuantity(rpc.host, await rpc.call("eth_chainId", []));
        if (actual !== BigInt(network.chainId))
          throw new WrongChainError(rpc.host, { actual, wanted: network.chainId });
        useless.delete(rpc);
        proved.add(rpc);
      }
      inUse = rpc;
    },
  });
}

/** The contracts of the configured network as this release compiles them. */
export function plannedContracts({ network }: Configuration): readonly [PlannedContract, PlannedContract] {
  const count = executorList(network.protocols).length;
  if (count > MOST_LISTED) {
    const message = `${network.name} names ${count} factories that the executor can trade with, and it lists ${MOST_LISTED}`;
    throw new CommandFailure(EXIT.no, `${message} at most: leave out those with the least liquidity (protocols)`);
  }
  return planDeployment(network, {
    executor: loadContract("SwapdExecutor").bytecode,
    settlement: loadContract("SwapdSettlement").bytecode,
  });
}

export async function codeAt(rpc: JsonRpc, address: Address): Promise<Hex> {
  const code = await rpc.call("eth_getCode", [address, "latest"]);
  if (isHex(code)) return code;
  throw new CommandFailure(EXIT.no, `${rpc.host} does not report the code at ${address}`);
}

/** Every answer of another chain would be worthless. */
export async function checkChainId(rpc: JsonRpc, { network }: Configuration): Promise<void> {
  const chainId = Number(await rpc.call("eth_chainId", []));
  if (chainId === network.chainId) return;
  const message = `${rpc.host} serves chain ${chainId}, and ${network.name} is chain ${network.chainId}`;
  throw new CommandFailure(EXIT.no, `${message}: correct network.rpc`);
}

/** Without the deployer there are no deterministic addresses, so nothing is deployed. */
export async function checkDeployer(rpc: JsonRpc, { network }: Configuration): Promise<void> {
  const code = await codeAt(rpc, DEPLOYER.address);
  if (code.toLowerCase() === DEPLOYER.runtime) return;
  const found = code === "0x" ? "is not on" : "has other code than it should on";
  throw new CommandFailure(
    EXIT.no,
    `the deployment proxy ${DEPLOYER.address} ${found} ${network.name}, and without it nothing is deployed: its keyless ` +
      "transaction puts it there for everybody (https://github.com/Arachnid/deterministic-deployment-proxy says how); " +
      "then run this command again",
  );
}

/** Wei that a rollup would take now for the data of these calls of the deployer, on top of gas. @throws RpcError */
export async function dataFeeOf(
  rpc: JsonRpc,
  { network }: Configuration,
  calls: readonly { readonly data: Hex; readonly gasLimit: bigint }[],
): Promise<bigint> {
  const fees = calls.map(async ({ data, gasLimit }) => {
    const { requests, decode } = exactDataFee(network, { to: DEPLOYER.address, data, gasLimit });
    return decode(rpc.host, await rpc.batch(requests))(gasLimit);
  });
  return (await Promise.all(fees)).reduce((sum, fee) => sum + fee, 0n);
}

/**
 * Checks both contracts against what this release compiles, byte by byte, and against the configured network.
 * @returns what is different, empty when nothing is
 */
export async function differences(
  rpc: JsonRpc,
  { network }: Configuration,
  place: SettlementPlace,
): Promise<readonly string[]> {
  const { chainId, wrappedNative, protocols } = network;
  const { settlement, executor } = place;
  const found: string[] = [];
  const compare = async (name: string, address: Address, compiled: Hex, values: ReadonlySet<bigint>): Promise<void> => {
    const difference = differenceOf(await codeAt(rpc, address), compiled, values);
    if (difference !== undefined) found.push(`${name} ${address}: ${difference}`);
  };
  const executorValues = executorImmutables({ wrappedNative, protocols: executorList(protocols) });
  await compare("executor", executor, loadRuntimeCode("SwapdExecutor"), executorValues);
  const settlementValues = settlementImmutables({ chainId, address: settlement, wrappedNative, executor });
  await compare("settlement", settlement, loadRuntimeCode("SwapdSettlement"), settlementValues);
  if (found.length > 0) return found;
  await verifySettlement(rpc, { name: network.name, chainId, wrappedNative, protocols, settlement, executor }).catch(
    (error: unknown) => {
      // A node that does not answer says nothing about the contracts.
      if (!(error instanceof WrongContractsError)) throw error;
      found.push(error.message);
    },
  );
  return found;
}

const SETTLEMENT = new Interface(["function executor() view returns (address)"]);

/**
 * The executor that a settlement contract names; undefined when it names none.
 * @throws RpcError when no node answers
 */
export async function executorOf(rpc: JsonRpc, settlement: Address): Promise<Address | undefined> {
  const data = SETTLEMENT.encodeFunctionData("executor");
  const [answer] = await rpc.batch([{ method: "eth_call", params: [{ to: settlement, data }, "latest"] }]);
  return readAddress(readViewWord(rpc.host, answer));
}

import { RETRIES } from "../../chain/at-block/head.ts";
import { type JsonRpc, RpcError, type RpcRequest } from "../../chain/json-rpc.ts";
import { mayPassSoon } from "../../chain/node-errors.ts";
import { UnusableChainError } from "../../chain/unusable-chain.ts";
import { retryRead } from "../../net/retry-read.ts";

/**
 * How a network charges for publishing a transaction's data elsewhere. `op-stack`: wei on top of gas, reported by a predeploy.
 * `arbitrum`: as gas that is used up, reported by the node; estimates and receipts have it in them.
 */
export type DataFeeKind = "op-stack" | "arbitrum";

/** What the size of a swap's transaction depends on. */
export interface SwapShape {
  readonly gasless: boolean;
  readonly hops: number;
}

/** What a network charges for data at one block. */
export interface DataFees {
  /** Wei on top of gas for the data of a swap's transaction. */
  dataFee(swap: SwapShape): bigint;
  /** Wei on top of gas that a rollup's operator takes from a transaction with so much gas. */
  operatorFee(gas: bigint): bigint;
  /** Gas that the data of a swap's transaction uses up besides its execution. */
  dataGas(swap: SwapShape): bigint;
}

/** How the fees of one block are asked for. */
export interface DataFeeSource {
  /** sent together while the pools of the block are read; none where nothing is charged */
  readonly requests: readonly RpcRequest[];
  /** @throws DataFeeUnknownError when the network does not report its fees, RpcError when the node did not answer */
  decode(host: string, answers: readonly unknown[]): DataFees;
}

/** A network where gas is all there is to pay. */
const NOTHING: DataFees = { dataFee: () => 0n, operatorFee: () => 0n, dataGas: () => 0n };
export const NO_DATA_FEES: DataFeeSource = { requests: [], decode: () => NOTHING };

/** Asks what data costs now, in one HTTP request or none. @throws DataFeeUnknownError, RpcError */
export async function readDataFees(rpc: JsonRpc, { requests, decode }: DataFeeSource): Promise<DataFees> {
  if (requests.length === 0) return NOTHING;
  const isTransient = (error: Error) =>
    error instanceof RpcError && !(error instanceof UnusableChainError) && mayPassSoon(error);
  return await retryRead(async () => decode(rpc.host, await rpc.batch(requests)), { ...RETRIES, isTransient });
}

/** A swap's transaction as far as its cost depends on it; `gas`: without what its data uses up. */
type SwapSize = SwapShape & { readonly gas: bigint };

/** Wei that such a swap is expected to cost its sender, everything counted. */
export function expectedCost(
  swap: SwapSize,
  { gasPrice, dataFees }: { readonly gasPrice: bigint; readonly dataFees: DataFees },
): bigint {
  return (swap.gas + dataFees.dataGas(swap)) * gasPrice + costBesideGas(swap, dataFees);
}

/** What of it is not for gas. */
export function costBesideGas(swap: SwapSize, dataFees: DataFees): bigint {
  return dataFees.dataFee(swap) + dataFees.operatorFee(swap.gas + dataFees.dataGas(swap));
}

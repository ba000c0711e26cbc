import type { z } from "zod";
import { NATIVE_TOKEN } from "../../domain/money/address.ts";
import { formatUnits } from "../../domain/money/amount.ts";
import { ERRORS, type Refusal } from "../errors/errors.ts";
import { isSettled, type NetworkOptions, type SettledNetwork, spenderOf } from "../options.ts";
import { kindOf } from "../pools/kinds.ts";
import type { Quote } from "../quotes/quote.ts";
import type { SwapTransaction } from "../quotes/transaction.ts";
import type { RelayerReport } from "../relayer/relayer-state.ts";
import { feeOfHop } from "../settlement/calldata.ts";
import { grossAmount, swapTypedData } from "../settlement/order.ts";
import type { Simulation } from "../simulation/simulator.ts";
import type { SwapRow, TransitionRow } from "../store/service-store.ts";
import type {
  distributionsResponse,
  errorResponse,
  gaslessRouteResponse,
  quoteResponse,
  relayerHealth,
  swapResponse,
  transactionResponse,
} from "./response-schemas.ts";

function typedDataOf({ order, sender }: Quote, { chainId, settlement }: SettledNetwork) {
  return sender === undefined ? null : swapTypedData(order, { chainId, address: settlement }, sender);
}

/** The fields of a swap through a public router, which nobody signs; null where there is nothing to execute. */
function plainMessage({ order, sender, router }: Quote, network: NetworkOptions) {
  const address = isSettled(network) ? undefined : spenderOf(network, router);
  if (address === undefined || sender === undefined) return null;
  const { nonce, ...fields } = swapTypedData(order, { chainId: network.chainId, address }, sender).message;
  return fields;
}

/** A quote in the names of both dialects. */
export function toWireQuote(
  quote: Quote,
  network: NetworkOptions,
  simulation?: Simulation | undefined,
): z.infer<typeof quoteResponse> {
  const { order } = quote;
  const typedData = isSettled(network) && quote.owner !== undefined ? typedDataOf(quote, network) : null;
  const amount = grossAmount(order).toString();
  const amountOut = quote.amountOut.toString();
  const amountOutMin = order.amountOutMin.toString();
  return {
    id: quote.id,
    "quote-id": quote.id,
    network: network.name,
    gasless: quote.gasless,
    fromTokenAddress: order.fromAsset,
    toTokenAddress: order.toAsset,
    amount,
    sellAmount: amount,
    amountOut,
    toTokenAmount: amountOut,
    amountOutMin,
    minAmountOut: amountOutMin,
    targetAddress: spenderOf(network, quote.router) ?? null,
    fees: feesOf(quote),
    resourceEstimate: { gasLimit: quote.gasLimit.toString() },
    priceImpact: fraction(quote.priceImpactPpm),
    expiresAt: quote.expiresAtSeconds,
    blockNumber: quote.blockNumber,
    typedData: typedData === null ? null : copyTypedData(typedData),
    message: typedData === null ? plainMessage(quote, network) : { ...typedData.message },
    permit: quote.permit === undefined ? null : copyTypedData(quote.permit),
    ...simulationOf(simulation),
  };
}

function simulationOf(simulation: Simulation | undefined): Pick<z.infer<typeof quoteResponse>, "simulation"> {
  if (simulation === undefined) return {};
  const { status, funded, approved, blockNumber } = simulation;
  if (status !== "ok") return { simulation: { status, reason: simulation.reason, funded, approved, blockNumber } };
  const { amountOut, gasUsed } = simulation;
  const gas = gasUsed === undefined ? {} : { gasUsed: gasUsed.toString() };
  return { simulation: { status, amountOut: amountOut.toString(), ...gas, funded, approved, blockNumber } };
}

function feesOf({ order, gasCost, gasless }: Quote): z.infer<typeof quoteResponse>["fees"] {
  const fees: z.infer<typeof quoteResponse>["fees"] = [{ type: "gas", value: gasCost.toString(), token: NATIVE_TOKEN }];
  if (gasless) fees.push({ type: "swap", value: order.swapFee.toString(), token: order.fromAsset });
  if (order.affiliateFee > 0n) {
    fees.push({ type: "affiliate", value: order.affiliateFee.toString(), token: order.fromAsset });
  }
  return fees;
}

function copyTypedData(typedData: ReturnType<typeof swapTypedData>) {
  const types = Object.fromEntries(Object.entries(typedData.types).map(([name, fields]) => [name, [...fields]]));
  return { ...typedData, domain: { ...typedData.domain }, types, message: { ...typedData.message } };
}

/** Parts per million as a decimal fraction with six places. */
function fraction(ppm: bigint): string {
  const digits = ppm.toString().padStart(7, "0");
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

export function toWireDistributions(quote: Quote, network: NetworkOptions): z.infer<typeof distributionsResponse> {
  return {
    quoteId: quote.id,
    "quote-id": quote.id,
    network: network.name,
    fromTokenAddress: quote.order.fromAsset,
    toTokenAddress: quote.order.toAsset,
    amountIn: quote.order.amountIn.toString(),
    amountOut: quote.amountOut.toString(),
    blockNumber: quote.blockNumber,
    distributions: quote.legs.map(({ pool, tokenIn, tokenOut, portion, amountIn, amountOut, feePips }) => ({
      poolAddress: pool.address,
      protocol: kindOf(pool).source,
      factory: network.protocols[pool.protocol]?.factory ?? NATIVE_TOKEN,
      fee: feePips ?? pool.feePips,
      fromTokenAddress: tokenIn,
      toTokenAddress: tokenOut,
      share: formatUnits(portion, 18),
      amountIn: amountIn.toString(),
      amountOut: amountOut.toString(),
    })),
  };
}

export function toWireSwap(row: SwapRow, transitions: readonly TransitionRow[]): z.infer<typeof swapResponse> {
  const at = (ms: number) => new Date(ms).toISOString();
  return {
    id: row.id,
    quoteId: row.quoteId,
    networkName: row.network,
    walletAddress: row.wallet,
    toAddress: row.recipient,
    fromTokenAddress: row.fromToken,
    toTokenAddress: row.toToken,
    sellAmount: row.sellAmount,
    amountOut: row.amountOut,
    status: row.status,
    hash: row.hash,
    blockNumber: row.blockNumber,
    error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? "" },
    createdAt: at(row.createdAtMs),
    updatedAt: at(row.updatedAtMs),
    transitions: transitions.map(({ fromStatus, toStatus, detail, atMs }) => {
      return { from: fromStatus, to: toStatus, detail, at: at(atMs) };
    }),
  };
}

/**
 * What the relayer has, loses and may lose is on the metrics' own address: here it would show an attacker how far he
 * got.
 */
export function toWireRelayer({ address, refusal }: RelayerReport): z.infer<typeof relayerHealth> {
  return { address, refusal: refusal ?? null };
}

export function toWireTransaction(
  transaction: SwapTransaction,
  network: NetworkOptions,
): z.infer<typeof transactionResponse> {
  const { fees } = transaction;
  // Old clients find the legacy price in the EIP-1559 fields too.
  const maxFeePerGas = fees.type === 2 ? fees.maxFeePerGas : fees.gasPrice;
  const maxPriorityFeePerGas = fees.type === 2 ? fees.maxPriorityFeePerGas : fees.gasPrice;
  return {
    from: transaction.from,
    to: transaction.to,
    data: transaction.data,
    value: transaction.value.toString(),
    chainId: network.chainId,
    type: fees.type,
    gasLimit: transaction.gasLimit.toString(),
    maxFeePerGas: maxFeePerGas.toString(),
    maxPriorityFeePerGas: maxPriorityFeePerGas.toString(),
    ...(fees.type === 0 ? { gasPrice: fees.gasPrice.toString() } : {}),
    ...simulationOf(transaction.simulation),
  };
}

/** The route of a gasless quote, with which its owner can try the order out. */
export function toWireRoute(quote: Quote, network: SettledNetwork): z.infer<typeof gaslessRouteResponse> {
  const legs = quote.legs.map(({ pool, tokenIn, tokenOut, portion }) => ({
    protocol: pool.protocol.toString(),
    pool: pool.address,
    tokenIn,
    tokenOut,
    fee: feeOfHop(pool).toString(),
    portion: portion.toString(),
  }));
  return { quoteId: quote.id, gasless: true, to: network.settlement, chainId: network.chainId, legs };
}

/** The body of an error answer: the table's sentence, the values, and what to do. */
export function toWireError(refusal: Refusal): z.infer<typeof errorResponse> {
  const { code, message, remedy } = ERRORS[refusal.error];
  // Clients of the interface compare this sentence, so nothing is added to it.
  const fixed = code === 2003;
  const named = refusal.parameter === undefined ? message : `${message}: ${refusal.parameter}`;
  const full = refusal.detail === undefined ? `${named}. ${remedy}` : `${named} (${refusal.detail}). ${remedy}`;
  return {
    message: fixed ? message : full,
    code,
    error: refusal.error,
    ...(refusal.parameter === undefined ? {} : { parameter: refusal.parameter }),
  };
}

import { readFileSync } from "node:fs";
import { Interface, Wallet } from "ethers";
import { type Address, NATIVE_TOKEN, toAddress } from "../../src/domain/money/address.ts";
import { packCall } from "../support/hosted-double/packed-call.ts";
import { digestOf, type SwapMessage, wireTypedData } from "../support/hosted-double/swap-message.ts";

/** What was asked for, and what an honest service answers. The answers are built without the profiles. */
export interface Scenario {
  readonly profile: "swapd" | "fly";
  readonly mode: "self-executed" | "gasless";
  readonly affiliate: boolean;
}

/** The two JSON answers that lead to a signature. */
export interface Payloads {
  readonly quote: Readonly<Record<string, unknown>>;
  /** undefined on the gasless path */
  readonly transaction: Readonly<Record<string, unknown>> | undefined;
}

export const SCENARIOS: readonly Scenario[] = (["swapd", "fly"] as const).flatMap((profile) =>
  (["self-executed", "gasless"] as const).flatMap((mode) =>
    [false, true].map((affiliate) => ({ profile, mode, affiliate })),
  ),
);

export const nameOf = (scenario: Scenario): string =>
  `${scenario.profile}, ${scenario.mode}${scenario.affiliate ? ", with an affiliate" : ""}`;

export const SERVICE_WALLET = new Wallet(`0x${"5e".repeat(32)}`);
const OWNER_KEY = `0x${"0b".repeat(32)}`;
export const OWNER_WALLET = new Wallet(OWNER_KEY);
export const OWNER: Address = toAddress(OWNER_WALLET.address);
export const OWNER_PRIVATE_KEY = OWNER_KEY;
export const ROUTER = toAddress(`0x${"1f".repeat(20)}`);
const RELAYER = toAddress(`0x${"2f".repeat(20)}`);
export const USDC = toAddress(`0x${"3f".repeat(20)}`);
export const WETH = toAddress(`0x${"4f".repeat(20)}`);
export const AFFILIATE = toAddress(`0x${"5f".repeat(20)}`);
export const ATTACKER = toAddress(`0x${"6f".repeat(20)}`);
export const CHAIN_ID = 31337;
export const NOW = 1_700_000_000;

/** 100 USDC for 0.1 WETH at 1000 dollars, 1 % slippage. */
export const GROSS = 100_000_000n;
const AMOUNT_OUT = 10n ** 17n;
export const AMOUNT_OUT_MIN = 99n * 10n ** 15n;
const SWAP_FEE = 400_000n;
export const AFFILIATE_FEE = 500_000n;
const NONCE = 0xdeadbeefn;

const SETTLEMENT = new Interface(
  (
    JSON.parse(readFileSync(new URL("../../contracts/artifacts/SwapdSettlement.json", import.meta.url), "utf8")) as {
      abi: [];
    }
  ).abi,
);

/** The fields of the order, by the names of the interface, as an honest service fills them. */
export interface OrderFields extends SwapMessage {
  readonly nonce: bigint;
}

export function honestOrder(scenario: Scenario): OrderFields {
  const swapFee = scenario.mode === "gasless" ? SWAP_FEE : 0n;
  const affiliateFee = scenario.affiliate ? AFFILIATE_FEE : 0n;
  return {
    router: ROUTER,
    sender: scenario.mode === "gasless" ? RELAYER : OWNER,
    recipient: OWNER,
    fromAsset: USDC,
    toAsset: WETH,
    deadline: BigInt(NOW + 120),
    amountOutMin: AMOUNT_OUT_MIN,
    swapFee,
    amountIn: GROSS - swapFee - affiliateFee,
    nonce: NONCE,
    affiliate: scenario.affiliate ? { address: AFFILIATE, fee: AFFILIATE_FEE } : undefined,
  };
}

/** The answers of an honest service, or of one that fills the order otherwise. */
export function payloadsFor(scenario: Scenario, change: Partial<OrderFields> = {}): Payloads {
  const order = { ...honestOrder(scenario), ...change };
  const quote = {
    id: "0b5f9a52-6b5c-4f43-9f1b-1c3f6f7f6a11",
    amountOut: AMOUNT_OUT.toString(),
    targetAddress: ROUTER,
    fees: [{ type: "gas", value: "420000000000000" }],
    resourceEstimate: { gasLimit: "210000" },
    typedData: typedDataFor(scenario, order),
    ...(scenario.profile === "swapd" ? { priceImpact: "0.000500", expiresAt: NOW + 20, blockNumber: 7 } : {}),
  };
  if (scenario.mode === "gasless") return { quote, transaction: undefined };
  const transaction = {
    from: OWNER,
    to: ROUTER,
    data: calldataFor(scenario, order),
    value: "0",
    chainId: CHAIN_ID,
    type: 2,
    gasLimit: "210000",
    maxFeePerGas: "2000000000",
    maxPriorityFeePerGas: "1000000000",
  };
  return { quote, transaction };
}

function typedDataFor(scenario: Scenario, order: OrderFields) {
  const { nonce, ...message } = order;
  const fly = wireTypedData(message, CHAIN_ID);
  if (scenario.profile === "fly") return fly;
  const plain = fly.types.Swap.slice(0, 9);
  return {
    domain: { ...fly.domain, name: "swapd", version: "1" },
    types: { Swap: [...plain, { name: "nonce", type: "uint256" }, ...fly.types.Swap.slice(9)] },
    primaryType: "Swap",
    message: { ...fly.message, nonce: nonce.toString() },
  };
}

/** Calldata of either router; `nonce` is zero in a self-executed order. */
function calldataFor(scenario: Scenario, order: OrderFields): string {
  if (scenario.profile === "fly") {
    // A service that lies signs its lies too.
    const signature = SERVICE_WALLET.signingKey.sign(digestOf(order, CHAIN_ID));
    return packCall("service", order, { signature });
  }
  return SETTLEMENT.encodeFunctionData("swap", [
    [
      order.recipient,
      order.fromAsset,
      order.toAsset,
      order.deadline,
      order.amountOutMin,
      order.swapFee,
      order.amountIn,
      0n,
      order.affiliate?.address ?? NATIVE_TOKEN,
      order.affiliate?.fee ?? 0n,
    ],
    [[0, ATTACKER, USDC, WETH, 0, 10n ** 18n]],
  ]);
}

import { z } from "zod";

const address = z.string().regex(/^0x[0-9a-f]{40}$/);
const integer = z
  .string()
  .regex(/^(0|[1-9][0-9]*)$/)
  .describe("Decimal text, smallest unit.");
const bytes = z.string().regex(/^0x([0-9a-f]{2})*$/);
const seconds = z.int().min(0);

const typedData = z
  .object({
    domain: z.record(z.string(), z.string()),
    types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
    primaryType: z.string(),
    message: z.record(z.string(), z.string()),
  })
  .describe("EIP-712 typed data; types without EIP712Domain, numbers as decimal text.");

const fee = z.object({
  type: z.enum(["gas", "swap", "affiliate"]),
  value: integer.describe("For gas, all that sending is expected to cost: on rollups with the fee for data in it."),
  token: address.describe("The token the fee is counted in: the native token for gas, the sold token for the others."),
});

const simulation = z
  .object({
    status: z
      .enum(["ok", "failed", "skipped"])
      .describe("failed: it reverts also with funds and allowance. skipped: it could not be tried."),
    amountOut: integer.optional().describe("What the recipient gets; of ok only."),
    gasUsed: integer
      .optional()
      .describe(
        "Gas that a receipt would show; of ok only, where the node can know. On arbitrum it may lack the gas for data.",
      ),
    reason: z.string().optional().describe("Why it failed, by the contract's own error, or why it was skipped."),
    funded: z.boolean().describe("Whether the wallet really has the amount."),
    approved: z.boolean().describe("Whether targetAddress may really take it; true for the native token."),
    blockNumber: z.int().describe("Block on top of which it was simulated."),
  })
  .describe("What the swap would do now by a wallet that has the amount and has approved it; only when asked for.");

export const quoteResponse = z.object({
  id: z.uuid(),
  "quote-id": z.uuid(),
  network: z.string(),
  gasless: z.boolean(),
  fromTokenAddress: address,
  toTokenAddress: address,
  amount: integer.describe("Gross amount sold."),
  sellAmount: integer,
  amountOut: integer.describe("Expected amount bought."),
  toTokenAmount: integer,
  amountOutMin: integer.describe("Least amount bought, rounded up; the contract enforces it."),
  minAmountOut: integer,
  targetAddress: address.nullable().describe("The spender to approve; null where quotes are only indicative."),
  fees: z.array(fee),
  resourceEstimate: z.object({ gasLimit: integer }),
  priceImpact: z
    .string()
    .regex(/^[01]\.[0-9]{6}$/)
    .describe("Share of the output at spot prices that the trade's size costs, as a fraction."),
  expiresAt: seconds.describe("Unix seconds from which on the quote cannot be used."),
  blockNumber: z.int(),
  typedData: typedData
    .nullable()
    .describe(
      "What the owner of a gasless quote signs; null in an indicative quote and where swaps settle through a public router, which takes no signed orders.",
    ),
  message: z
    .record(z.string(), z.string())
    .nullable()
    .describe(
      "The order in plain fields: typedData.message, or through a public router what its call says, with `router` and `sender`.",
    ),
  permit: typedData.nullable().describe("The permit to sign with it; null when none is needed."),
  simulation: simulation.optional(),
});

export const transactionResponse = z.object({
  from: address,
  to: address,
  data: bytes,
  value: integer,
  chainId: z.int(),
  type: z.union([z.literal(0), z.literal(2)]),
  gasLimit: integer,
  maxFeePerGas: integer,
  maxPriorityFeePerGas: integer,
  gasPrice: integer.optional().describe("Only on networks without EIP-1559."),
  simulation: simulation.optional(),
});

const leg = z.object({
  protocol: integer,
  pool: address,
  tokenIn: address,
  tokenOut: address,
  fee: integer,
  portion: integer,
});

export const gaslessRouteResponse = z
  .object({
    quoteId: z.uuid(),
    gasless: z.literal(true),
    to: address,
    chainId: z.int(),
    legs: z.array(leg).describe("The route in the contract's words, the argument `route` of swap(order, route)."),
  })
  .describe(
    "Of a gasless quote: nothing to broadcast, but its route, so that the order can be simulated before it is signed.",
  );

export const transactionOrRouteResponse = z.union([transactionResponse, gaslessRouteResponse]);

export const quoteTransactionResponse = z.object({ quote: quoteResponse, transaction: transactionResponse });

const distribution = z.object({
  poolAddress: address,
  protocol: z.string(),
  factory: address,
  fee: z.int().describe("What the swap pays in the pool, in parts per million; in Uniswap V4 with the protocol's fee."),
  fromTokenAddress: address,
  toTokenAddress: address,
  share: z.string().describe("Share of what is then held of the token sold to the pool; 1 is all."),
  amountIn: integer,
  amountOut: integer,
});

export const distributionsResponse = z.object({
  quoteId: z.uuid(),
  "quote-id": z.uuid(),
  network: z.string(),
  fromTokenAddress: address,
  toTokenAddress: address,
  amountIn: integer.describe("Amount that is routed: net of all fees."),
  amountOut: integer,
  blockNumber: z.int(),
  distributions: z.array(distribution).describe("In the order of execution."),
});

const status = z.enum(["pending", "success", "error", "expired"]);

export const swapResponse = z.object({
  id: z.string(),
  quoteId: z.uuid(),
  networkName: z.string(),
  walletAddress: address,
  toAddress: address,
  fromTokenAddress: address,
  toTokenAddress: address,
  sellAmount: integer,
  amountOut: integer.nullable().describe("What the recipient got; null before that."),
  status,
  hash: bytes.nullable(),
  blockNumber: z.int().nullable(),
  error: z.object({ code: z.int(), message: z.string() }).nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  transitions: z.array(
    z.object({ from: status.nullable(), to: status, detail: z.string().nullable(), at: z.iso.datetime() }),
  ),
});

export const statusCountsResponse = z.object({
  pending: z.int(),
  success: z.int(),
  error: z.int(),
  expired: z.int(),
});

export const errorResponse = z.object({
  message: z.string(),
  code: z.int().describe("See x-errors."),
  error: z.string().describe("Name of the error."),
  parameter: z.string().optional().describe("The parameter at fault."),
});

/** Exactly what the gateways of hosted services answer. */
export const limitedResponse = z.object({ message: z.literal("API rate limit exceeded") });

export const relayerHealth = z.object({
  address,
  refusal: z.string().nullable().describe("Name of the error that gasless requests get now; null: they are taken."),
});

const networkHealth = {
  network: z.string(),
  refusal: z.string().nullable().describe("Name of the error that requests for it get now; null: they are answered."),
  blockNumber: z.int().nullable().describe("null while its node is of no use"),
  gasless: z.boolean().describe("Whether gasless swaps are taken now."),
  relayer: relayerHealth.nullable().describe("null where no relayer runs, or nothing is known of it"),
};

export const healthResponse = z.object({
  status: z.enum(["ok", "degraded"]).describe("degraded: some networks are refused, others are answered."),
  ...networkHealth,
  networks: z.array(z.object(networkHealth)).describe("All served networks; the first one is reported above, too."),
});

const network = z.object({
  id: z.int().describe("The chain id."),
  name: z.string(),
  chainId: z.int(),
  logoUrl: z.null().describe("This service has no pictures."),
});

export const liquiditySourcesResponse = z.array(z.string()).describe("Values for liquiditySources of a quote.");

export const networksResponse = z.array(network);

export const tokenResponse = z.object({
  id: z.string(),
  name: z.string().describe("As the token itself says, without characters that cannot be shown."),
  symbol: z.string(),
  address,
  decimals: z.int().min(0).max(77),
  displayDecimals: z.int().min(0),
  isReliable: z.boolean().describe("Whether the operator lists the token; anybody can deploy one with any name."),
  logoUrl: z.null().describe("This service has no pictures."),
  usdPrice: z.string().nullable().describe("Dollars by a Chainlink feed; null without a fresh one."),
  permit: z.boolean().describe("Whether the token takes EIP-2612 permits."),
  network,
});

export const tokensResponse = z.array(tokenResponse);

export const balancesResponse = z.array(
  z.object({
    walletAddress: address,
    tokenAddress: address,
    amount: integer.describe("Above zero, in the smallest unit."),
    networkId: z.int(),
  }),
);

export const allowanceResponse = z.object({
  allowance: integer.describe("The native token needs no approval: its allowance is the largest number."),
});

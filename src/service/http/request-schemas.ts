import { getAddress } from "ethers";
import { z } from "zod";
import { parseAddress } from "../../domain/money/address.ts";

/** Addresses whose checksum was right: clients name the same ones again and again, and to reckon it takes a tenth of a quote. */
const copied = new Set<string>();
const MAX_COPIED = 10_000;

/** Digits in one case have no checksum; in mixed case a wrong one (EIP-55) says that a digit was mistyped. */
function isAsCopied(text: string): boolean {
  const address = parseAddress(text);
  const digits = text.slice(2);
  const isInOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  if (address === undefined || isInOneCase || copied.has(text)) return true;
  // The text may be a part of a long one, which would be kept with it.
  const right = getAddress(address);
  if (right !== text) return false;
  if (copied.size >= MAX_COPIED) copied.clear();
  copied.add(right);
  return true;
}

const digits = z.string().regex(/^0x[0-9a-fA-F]{40}$/, "must be 0x and 40 hexadecimal digits");
const address = digits
  .refine(isAsCopied, "has a wrong checksum: a digit may be mistyped, copy it again or send it in lower case")
  .meta({ example: "0x0000000000000000000000000000000000000000" });
const integer = z.string().regex(/^(0|[1-9][0-9]{0,77})$/, "must be a whole number in the token's smallest unit");
const decimal = z.string().regex(/^-?[0-9]{1,20}(\.[0-9]{1,40})?$/, "must be a decimal number");
const flag = z.enum(["true", "false"], { error: "must be true or false" });
const network = z.string().min(1).max(64);
const timeoutMs = z
  .string()
  .regex(/^([1-9][0-9]{1,3}|[12][0-9]{4}|30000)$/, "must be a whole number of milliseconds from 10 to 30000")
  .meta({ example: "2000" });
const simulate = flag
  .optional()
  .describe(
    "true: simulate the swap as if the wallet had the balance and the allowance, and report the result in simulation.",
  );
const quoteId = z.string().min(1).max(64);

/** Parameters of a quote, in the names of both dialects. Others are ignored. */
export const quoteQuery = z.object({
  network: network.optional().describe("Lower-case name of the network; the served one if left out."),
  fromTokenAddress: address.describe("Token sold; the zero address is the native token."),
  toTokenAddress: address.describe("Token bought; the zero address is the native token."),
  amount: integer.optional().describe("Gross amount of the sold token. Exactly one of amount and sellAmount."),
  sellAmount: integer.optional().describe("Another name of amount."),
  slippage: decimal.describe("Allowed slippage as a fraction from 0 to below 1: 0.005 is half a percent."),
  fromAddress: address.optional().describe("Wallet that sells. Without it the quote is indicative."),
  toAddress: address.optional().describe("Wallet that receives; fromAddress if left out."),
  gasless: flag.describe("true: the service sends the swap and pays the gas."),
  enableRFQ: flag.optional().describe("Accepted for compatibility; no RFQ maker is configured, so it changes nothing."),
  affiliateAddress: address.optional().describe("Receives the affiliate fee; comes together with a fee."),
  affiliateFee: decimal.optional().describe("Affiliate fee in per cent of the amount: 1 is 1 %. At most 3."),
  affiliateFeeInPercentage: decimal.optional().describe("Affiliate fee as a fraction: 0.01 is 1 %."),
  timeoutMs: timeoutMs
    .optional()
    .describe(
      "Milliseconds within which an answer comes; 10000 if left out. When they end before all routes were searched, the " +
        "best one so far is quoted.",
    ),
  liquiditySources: z
    .union([z.string().max(256), z.array(z.string().max(64)).max(16)], { error: "must be at most 16 names" })
    .optional()
    .describe("Kinds of pools that may be used, joined by commas or repeated; all if left out."),
  simulate,
  estimateGas: flag
    .optional()
    .describe("true: like simulate, and gasLimit is measured where the swap can be simulated."),
});

export const transactionQuery = z.object({
  quoteId: quoteId.optional().describe("Identifier of the quote. Exactly one of quoteId and quote-id."),
  "quote-id": quoteId.optional().describe("Another name of quoteId."),
  simulate,
  estimateGas: flag
    .optional()
    .describe("true: like simulate, and gasLimit is measured; a swap that would revert is refused."),
});

export const distributionsQuery = transactionQuery.omit({ estimateGas: true, simulate: true });

const signature = z.string().regex(/^0x[0-9a-fA-F]{130}$/, "must be a signature of 65 bytes in hexadecimal digits");

export const executeSwapBody = z.object({
  networkName: network.describe("Lower-case name of the network."),
  quoteId: quoteId.describe("Identifier of a gasless quote."),
  swapSignature: signature.describe("EIP-712 signature of the quote's typed data by fromAddress."),
  permitSignature: signature
    .nullish()
    .describe("EIP-2612 signature of the permit; not needed when the allowance suffices."),
  permitDeadline: z
    .union([z.int().min(0), z.string().regex(/^[0-9]{1,15}$/)], { error: "must be Unix seconds" })
    .nullish()
    .describe("Deadline of the permit in Unix seconds; comes together with permitSignature."),
});

export const swapQuery = z.object({
  networkName: network.optional(),
  hash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, "must be a transaction hash")
    .optional()
    .describe("Transaction of the swap, also one that was replaced. Exactly one of hash, quoteId and id."),
  quoteId: quoteId.optional(),
  id: quoteId.optional().describe("The service's own identifier of the swap."),
});

export const statusCountsQuery = z.object({
  walletAddress: address.describe("Wallet that sold."),
  networkName: network.optional(),
});

const networkName = network.optional().describe("Lower-case name of the network; the served one if there is only one.");
const networkNames = z
  .array(network)
  .min(1)
  .max(64)
  .describe("Lower-case names of networks; those that are not served are passed over.");
const offset = z.int().min(0).max(1_000_000).default(0).describe("How many entries to leave out; 100 are answered.");

export const liquiditySourcesQuery = z.object({ networkName });

export const networksQuery = z.object({});

export const tokenQuery = z.object({
  networkName,
  address: address.describe("The token; the zero address is the native token."),
});

/** An address that is not listed costs reads of its own. */
const searchText = z.string().max(128);

export const tokensBody = z.object({
  networkNames,
  searchValue: z
    .union([searchText, z.array(searchText).max(20)], { error: "must be a text, or a list of at most 20" })
    .default("")
    .describe("Texts in names and symbols, or addresses; empty: all listed tokens."),
  exact: z.boolean().default(false).describe("true: only whole names and symbols."),
  offset,
  // Nothing is lost by a mistyped one, and a hundred checksums take as long as a quote.
  exclude: z.array(digits).max(100).default([]).describe("Addresses to leave out."),
});

export const balancesBody = z.object({
  networkNames,
  walletAddresses: z.array(address).min(1).max(10),
  offset,
});

export const allowanceQuery = z.object({
  networkName,
  walletAddress: address.describe("Owner of the tokens."),
  tokenAddress: address,
  spenderAddress: address.describe("Contract that may take them."),
});

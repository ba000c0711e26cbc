import { z } from "zod";
import { type Hex, isHex, parseAddress } from "../../domain/money/address.ts";
import { parseRaw } from "../../domain/money/amount.ts";
import { isPoolKind } from "../pools/kinds.ts";
import type { Quote } from "../quotes/quote.ts";

/** Version of the stored text; rows outlive releases. */
const VERSION = 1;

function converted<T>(convert: (text: string) => T | undefined) {
  return z.string().transform((text, context) => {
    const value = convert(text);
    if (value !== undefined) return value;
    context.addIssue({ code: "custom", message: "malformed" });
    return z.NEVER;
  });
}

const address = converted(parseAddress);
const raw = converted(parseRaw);
const text = z.record(z.string(), z.string());

const pool = z.object({
  kind: z.number().refine(isPoolKind),
  protocol: z.number(),
  address,
  id: z.custom<Hex>(isHex).optional(),
  token0: address,
  token1: address,
  feePips: z.number(),
  tickSpacing: z.number(),
  constants: z.array(z.number()).optional(),
  factory: address.optional(),
});

const order = z.object({
  recipient: address,
  fromAsset: address,
  toAsset: address,
  deadline: raw,
  amountOutMin: raw,
  swapFee: raw,
  amountIn: raw,
  nonce: raw,
  affiliate: address,
  affiliateFee: raw,
});

const typedData = z.object({
  domain: text,
  types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
  primaryType: z.string(),
  message: text,
});

const leg = z.object({
  ...{ pool, tokenIn: address, tokenOut: address, portion: raw, amountIn: raw, amountOut: raw },
  // Quotes of earlier releases do not have it.
  feePips: z.number().optional(),
});

const quoteSchema = z.object({
  version: z.literal(VERSION),
  id: z.string(),
  createdAtMs: z.number(),
  expiresAtSeconds: z.number(),
  blockNumber: z.number(),
  gasless: z.boolean(),
  owner: address.optional(),
  sender: address.optional(),
  router: address.optional(),
  order,
  amountOut: raw,
  legs: z.array(leg),
  gasLimit: raw,
  // Quotes of earlier releases do not have it.
  gasRefund: raw.optional(),
  gasCost: raw,
  priceImpactPpm: raw,
  permit: typedData.optional(),
});

/** Writes a quote for {@link readQuote}. */
export function writeQuote(quote: Quote): string {
  const withVersion = { version: VERSION, ...quote };
  return JSON.stringify(withVersion, (_key, value) => (typeof value === "bigint" ? value.toString() : value));
}

/** Reads what {@link writeQuote} wrote. @throws ZodError on anything else */
export function readQuote(stored: string): Quote {
  const { version: _, owner, sender, router, permit, gasRefund = 0n, ...rest } = quoteSchema.parse(JSON.parse(stored));
  return { ...rest, gasRefund, owner, sender, router, permit };
}

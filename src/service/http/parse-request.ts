import type { z } from "zod";
import { type Address, isHex, parseAddress } from "../../domain/money/address.ts";
import { parseUnits } from "../../domain/money/amount.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import { ONE, type QuoteRequest } from "../quotes/quote.ts";
import type { ExecuteRequest } from "../relayer/signatures.ts";
import type { executeSwapBody, quoteQuery } from "./request-schemas.ts";

/** A value, or the refusal that names the parameter at fault. */
export type Parsed<T> = { readonly kind: "ok"; readonly value: T } | Refusal;

/** What the parser must know of the service. */
interface ParseContext {
  readonly sources: readonly string[];
}

/** Checks an input against a schema; the first problem is the answer. */
export function parseShape<T>(schema: z.ZodType<T>, input: unknown): Parsed<T> {
  const result = schema.safeParse(input);
  if (result.success) return { kind: "ok", value: result.data };
  const issue = result.error.issues[0];
  const parameter = issue?.path[0] === undefined ? undefined : String(issue.path[0]);
  if (parameter === undefined) return refuse("BODY_MALFORMED");
  const given = typeof input === "object" && input !== null && Object.hasOwn(input, parameter);
  if (!given) return refuse("PARAMETER_MISSING", { parameter });
  const isList = Array.isArray(Reflect.get(Object(input), parameter));
  return refuse("PARAMETER_MALFORMED", { parameter, detail: issue === undefined ? "" : detailOfIssue(issue, isList) });
}

/** A list in place of one value is a parameter that was repeated; what is wrong within a list has its place there. */
function detailOfIssue({ code, message, path }: z.core.$ZodIssue, isList: boolean): string {
  const [, entry] = path;
  if (isList && typeof entry === "number") return `entry ${entry + 1}: ${message}`;
  return isList && (code === "invalid_type" || code === "invalid_value") ? "must be given once" : message;
}

/** The one value of two names of a parameter. */
export function oneOf<T>(values: Readonly<Record<string, T | undefined>>): Parsed<T> {
  const [first, ...more] = Object.entries(values).filter(([, value]) => value !== undefined);
  const names = Object.keys(values);
  if (first === undefined) {
    return refuse("PARAMETER_MISSING", { parameter: names[0] ?? "", detail: `exactly one of ${names.join(", ")}` });
  }
  if (more.length > 0) {
    return refuse("PARAMETER_CONFLICT", { parameter: first[0], detail: `exactly one of ${names.join(", ")}` });
  }
  return { kind: "ok", value: first[1] as T };
}

function addressOf(text: string): Address {
  const address = parseAddress(text);
  if (address === undefined) throw new Error("the schema let a malformed address through");
  return address;
}

function optionalAddress(text: string | undefined): Address | undefined {
  return text === undefined ? undefined : addressOf(text);
}

/** @param decimals so that 10^decimals is the whole in the parameter's own unit */
function parseFraction(parameter: string, text: string, decimals: number): Parsed<bigint> {
  const value = parseUnits(text, decimals);
  if (typeof value === "bigint") return { kind: "ok", value };
  if (text.startsWith("-")) return refuse("PARAMETER_MALFORMED", { parameter, detail: "must not be negative" });
  const detail = value === "more decimals than the token has" ? `must have at most ${decimals} decimals` : value;
  return refuse("PARAMETER_MALFORMED", { parameter, detail });
}

function parseSlippage(text: string): Parsed<bigint> {
  if (text.startsWith("-")) return refuse("SLIPPAGE_OUT_OF_RANGE", { parameter: "slippage", detail: `it is ${text}` });
  const parsed = parseFraction("slippage", text, 18);
  if (parsed.kind === "ok" && parsed.value >= ONE) {
    return refuse("SLIPPAGE_OUT_OF_RANGE", { parameter: "slippage", detail: `it is ${text}` });
  }
  return parsed;
}

function parseAffiliate(query: z.infer<typeof quoteQuery>): Parsed<QuoteRequest["affiliate"]> {
  const { affiliateAddress, affiliateFee, affiliateFeeInPercentage } = query;
  if (affiliateAddress === undefined && affiliateFee === undefined && affiliateFeeInPercentage === undefined) {
    return { kind: "ok", value: undefined };
  }
  if (affiliateAddress === undefined) {
    return refuse("PARAMETER_CONFLICT", { parameter: "affiliateAddress", detail: "a fee needs an address" });
  }
  const fee = oneOf({ affiliateFee, affiliateFeeInPercentage });
  if (fee.kind !== "ok") return refuse("PARAMETER_CONFLICT", { parameter: "affiliateFee", ...detailOf(fee) });
  // The one name counts in per cent, the other in fractions of one.
  const share =
    affiliateFee === undefined
      ? parseFraction("affiliateFeeInPercentage", fee.value, 18)
      : parseFraction("affiliateFee", fee.value, 16);
  if (share.kind !== "ok") return share;
  return { kind: "ok", value: { address: addressOf(affiliateAddress), share: share.value } };
}

function detailOf({ detail }: Refusal): { detail?: string } {
  return detail === undefined ? {} : { detail };
}

function parseSources(
  given: string | readonly string[] | undefined,
  known: readonly string[],
): Parsed<string[] | undefined> {
  if (given === undefined) return { kind: "ok", value: undefined };
  const names = (typeof given === "string" ? [given] : given).flatMap((text) => text.split(","));
  const wrong = names.find((name, index) => !known.includes(name) || names.indexOf(name) !== index);
  if (wrong === undefined) return { kind: "ok", value: names };
  const detail = `${JSON.stringify(wrong.slice(0, 64))}; known are ${known.join(", ")}`;
  return refuse("LIQUIDITY_SOURCE_UNKNOWN", { parameter: "liquiditySources", detail });
}

/** Reads a quote's parameters in either dialect. */
export function parseQuoteRequest(query: z.infer<typeof quoteQuery>, context: ParseContext): Parsed<QuoteRequest> {
  const amount = oneOf({ amount: query.amount, sellAmount: query.sellAmount });
  if (amount.kind !== "ok") return amount;
  const raw = parseFraction("amount", amount.value, 0);
  if (raw.kind !== "ok") return raw;
  const slippage = parseSlippage(query.slippage);
  if (slippage.kind !== "ok") return slippage;
  const affiliate = parseAffiliate(query);
  if (affiliate.kind !== "ok") return affiliate;
  const sources = parseSources(query.liquiditySources, context.sources);
  if (sources.kind !== "ok") return sources;
  return {
    kind: "ok",
    value: {
      from: addressOf(query.fromTokenAddress),
      to: addressOf(query.toTokenAddress),
      amount: raw.value,
      slippage: slippage.value,
      owner: optionalAddress(query.fromAddress),
      recipient: optionalAddress(query.toAddress),
      gasless: query.gasless === "true",
      affiliate: affiliate.value,
      sources: sources.value === undefined ? undefined : new Set(sources.value),
    },
  };
}

function hexOf(text: string): `0x${string}` {
  const lower = text.toLowerCase();
  if (!isHex(lower)) throw new Error("the schema let malformed bytes through");
  return lower;
}

export function parseExecuteRequest(body: z.infer<typeof executeSwapBody>): Parsed<ExecuteRequest> {
  const { quoteId, permitSignature, permitDeadline } = body;
  const swapSignature = hexOf(body.swapSignature);
  if (permitSignature === undefined || permitSignature === null) {
    return { kind: "ok", value: { quoteId, swapSignature, permit: undefined } };
  }
  if (permitDeadline === undefined || permitDeadline === null) {
    return refuse("PARAMETER_MISSING", { parameter: "permitDeadline", detail: "it comes with permitSignature" });
  }
  const permit = { signature: hexOf(permitSignature), deadline: BigInt(permitDeadline) };
  return { kind: "ok", value: { quoteId, swapSignature, permit } };
}

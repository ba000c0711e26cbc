import { z } from "zod";
import { isHex, parseAddress } from "../domain/money/address.ts";
import { parseRaw } from "../domain/money/amount.ts";

// The database is what is being checked, so nothing in a row is believed before it has the right shape.

export const addressText = z.string().transform((text, context) => {
  const address = parseAddress(text);
  if (address !== undefined) return address;
  context.addIssue(`not an address: ${JSON.stringify(text)}`);
  return z.NEVER;
});

export const amountText = z.string().transform((text, context) => {
  const amount = parseRaw(text);
  if (amount !== undefined) return amount;
  context.addIssue(`not an amount: ${JSON.stringify(text)}`);
  return z.NEVER;
});

export const bytesText = z.string().transform((text, context) => {
  if (isHex(text)) return text;
  context.addIssue("not bytes in hexadecimal");
  return z.NEVER;
});

export const hashText = z.string().transform((text, context) => {
  const hash = text.toLowerCase();
  if (isHex(hash) && hash.length === 66) return hash;
  context.addIssue(`not a hash: ${JSON.stringify(text)}`);
  return z.NEVER;
});

export const jsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue(`not JSON: ${JSON.stringify(text)}`);
    return z.NEVER;
  }
});

export const count = z.number().int().nonnegative();
/** As many as a contract can tell. */
export const decimals = count.max(255);
/** Longest time from 1970 to an instant that has a date. */
const MOST_MS = 8.64e15;
export const instantMs = z.number().int().min(-MOST_MS).max(MOST_MS);
export const instantSeconds = count.max(MOST_MS / 1_000);

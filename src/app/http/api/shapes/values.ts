import { z } from "zod";
import { shape } from "./shape.ts";

/** An instant in UTC: `2026-01-31T09:00:00.000Z`. */
export const instant = z.iso.datetime().meta({ description: "an instant in UTC, ISO 8601" });

/** Dollars as decimal text. */
export const dollars = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/)
  .meta({ description: "dollars as decimal text" });

/** A whole number as decimal text: smallest units of a token, or wei. */
export const whole = z
  .string()
  .regex(/^-?\d+$/)
  .meta({ description: "a whole number as decimal text" });

/** Decimal text without an exponent. */
export const decimal = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/)
  .meta({ description: "decimal text" });

/** Basis points as decimal text; below zero is worse for the wallet. */
export const basisPoints = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/)
  .meta({ description: "basis points as decimal text; negative is worse for the wallet" });

export const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .meta({ description: "an address; the zero address stands for the network's own coin" });

/** A percentage as decimal text: `60` is 60 %. */
export const percent = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/)
  .meta({ description: "percent as decimal text" });

export const token = shape("Token", "A token. Its symbol is a text of the configuration, and no markup.", {
  symbol: z.string(),
  address,
  decimals: z.int().min(0).max(255),
});

export const money = shape("Money", "An amount of a token.", {
  amount: decimal.meta({ description: "in the token's own unit" }),
  raw: whole.meta({ description: "in the token's smallest unit" }),
  decimals: z.int().min(0).max(255),
  symbol: z.string(),
  address,
});

/** How often which state occurs. */
export const counts = z.record(z.string(), z.int().min(0));

export const problem = shape("Problem", "Why a request was refused (RFC 9457).", {
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string().meta({ description: "the same for the same kind of refusal" }),
  detail: z.string().meta({ description: "what is wrong and what to do about it" }),
});

import type { z } from "zod";
import type { Hex } from "../domain/money/address.ts";
import { unreadable } from "./ask-node.ts";
import { Refusal } from "./node-client.ts";
import { AuditError } from "./report.ts";

/** @throws AuditError where the node refused to answer */
export function proper(answer: unknown): unknown {
  if (answer instanceof Refusal) throw unreadable(answer);
  return answer;
}

/** @throws AuditError where an answer has another form */
export function read<T>(host: string, what: string, schema: z.ZodType<T>, answer: unknown): T {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const problem = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ");
  throw new AuditError("CHAIN_UNREADABLE", `${host} answered ${what} in a form that cannot be read (${problem}).`);
}

/**
 * A block up to the tip: there is one of each number.
 * @throws AuditError where the node keeps it no more
 */
export function readBlock<T>(host: string, number: number, schema: z.ZodType<T>, answer: unknown): T {
  if (answer !== null) return read(host, "a block", schema, proper(answer));
  const message = `${host} keeps block ${number} no more: name an endpoint that keeps old blocks.`;
  throw new AuditError("CHAIN_UNREADABLE", message);
}

/** A number as a node is asked with it. */
export function toQuantity(number: number): Hex {
  return `0x${number.toString(16)}`;
}

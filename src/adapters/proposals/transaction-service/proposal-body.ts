import { getAddress } from "ethers";
import { z } from "zod";
import { type Address, parseAddress } from "../../../domain/money/address.ts";
import type { PublishedProposal } from "../../../ports/treasury.ts";

const LONGEST_ORIGIN = 200;

/** A proposal as the service takes it: addresses with their checksums, numbers as texts, and who asks. */
export function bodyOf(
  { typedData, hash, signature, purpose, swapId }: PublishedProposal,
  delegate: Address,
): Readonly<Record<string, unknown>> {
  if (signature === undefined) throw new Error(`the proposal ${hash} leaves without the delegate's signature`);
  const field = (name: string): string => String(typedData.message[name]);
  const account = (name: string): string => getAddress(field(name));
  return {
    ...{ to: account("to"), value: field("value"), data: field("data"), operation: Number(field("operation")) },
    ...{ safeTxGas: field("safeTxGas"), baseGas: field("baseGas"), gasPrice: field("gasPrice") },
    ...{ gasToken: account("gasToken"), refundReceiver: account("refundReceiver"), nonce: field("nonce") },
    ...{ contractTransactionHash: hash, sender: getAddress(delegate), signature },
    origin: `swapd ${swapId}: ${purpose}`.slice(0, LONGEST_ORIGIN),
  };
}

const stored = z.object({
  ...{ safe: z.string(), to: z.string(), data: z.string().nullish(), safeTxHash: z.string() },
  ...{
    nonce: z.union([z.int(), z.string()]),
    operation: z.union([z.int(), z.string()]),
    trusted: z.boolean().optional(),
  },
});

/** Whether what the service shows is the proposal: its hash alone would be a word of the service. */
export function isSameProposal(body: unknown, { safe, typedData, hash }: PublishedProposal): boolean {
  const shown = stored.safeParse(body).data;
  if (shown === undefined || shown.trusted === false) return false;
  const { message } = typedData;
  return (
    shown.safeTxHash.toLowerCase() === hash &&
    parseAddress(shown.safe) === safe &&
    parseAddress(shown.to) === message.to &&
    shown.data?.toLowerCase() === message.data &&
    String(shown.nonce) === message.nonce &&
    String(shown.operation) === message.operation
  );
}

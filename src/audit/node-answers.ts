import { z } from "zod";
import { type Address, type Hex, isHex, parseAddress } from "../domain/money/address.ts";
import { type ChainLog, isOfMatter } from "./events.ts";

/** What a block did with a transaction. */
export interface Receipt {
  readonly hash: Hex;
  /** who signed the transaction */
  readonly from: Address;
  readonly blockNumber: number;
  readonly succeeded: boolean;
  /** all that the sender paid for it but its value: gas, and on rollups the fee of the layer below; in wei */
  readonly cost: bigint;
  readonly logs: readonly ChainLog[];
}

/** The newest block that an endpoint knows. */
export interface Tip {
  readonly number: number;
  readonly hash: Hex;
  /** Unix seconds */
  readonly seconds: number;
}

// What a node answers is read before anything is made of it.

const quantity = z.string().regex(/^0x[0-9a-f]+$/i);
export const bigQuantity = quantity.transform((text) => BigInt(text));
export const smallQuantity = quantity.transform((text) => Number(text)).pipe(z.number().int());
const hash = z.string().transform((text) => text.toLowerCase() as Hex);
export const bytes = z.custom<Hex>((value) => isHex(value));
const address = z.string().transform((text, context) => {
  const parsed = parseAddress(text);
  if (parsed !== undefined) return parsed;
  context.addIssue("not an address");
  return z.NEVER;
});

export const log = z.object({
  address,
  topics: z.array(bytes.transform((topic) => topic.toLowerCase() as Hex)),
  data: bytes,
  logIndex: smallQuantity,
  transactionHash: hash,
  blockNumber: smallQuantity,
});

/** What a rollup's operator takes, by the receipt's own figures; with the field of a later upgrade they count otherwise. */
function operatorFeeOf(answer: {
  gasUsed: bigint;
  operatorFeeScalar?: bigint | null | undefined;
  operatorFeeConstant?: bigint | null | undefined;
  daFootprintGasScalar?: string | null | undefined;
}): bigint {
  const product = answer.gasUsed * (answer.operatorFeeScalar ?? 0n);
  const isLater = typeof answer.daFootprintGasScalar === "string";
  return (isLater ? product * 100n : product / 10n ** 6n) + (answer.operatorFeeConstant ?? 0n);
}

export const receipt = z
  .object({
    transactionHash: hash,
    from: address,
    blockNumber: smallQuantity,
    status: quantity,
    gasUsed: bigQuantity,
    effectiveGasPrice: bigQuantity,
    l1Fee: bigQuantity.nullish(),
    operatorFeeScalar: bigQuantity.nullish(),
    operatorFeeConstant: bigQuantity.nullish(),
    daFootprintGasScalar: quantity.nullish(),
    logs: z.array(log),
  })
  .transform(
    (answer): Receipt => ({
      hash: answer.transactionHash,
      from: answer.from,
      blockNumber: answer.blockNumber,
      succeeded: BigInt(answer.status) === 1n,
      cost: answer.gasUsed * answer.effectiveGasPrice + (answer.l1Fee ?? 0n) + operatorFeeOf(answer),
      logs: answer.logs.filter(isOfMatter),
    }),
  );

export const header = z.object({ number: smallQuantity, hash });
/** No later than an instant that has a date. */
export const timedHeader = z.object({ timestamp: smallQuantity.pipe(z.number().max(8.64e12)) });
export const tipHeader = header
  .extend(timedHeader.shape)
  .transform(({ number, hash, timestamp }): Tip => ({ number, hash, seconds: timestamp }));
const blockTransaction = z.object({
  ...{ hash, from: address, nonce: smallQuantity, value: bigQuantity },
  to: address.nullish().transform((to) => to ?? undefined),
});
/** A block that names its transactions by their hashes. */
export const namingBlock = z.object({ transactions: z.array(hash) });
export const fullBlock = z.object({
  number: smallQuantity,
  transactions: z.array(blockTransaction),
});

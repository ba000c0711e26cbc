import { getAddress, recoverAddress, TypedDataEncoder } from "ethers";
import { z } from "zod";

/** What the double knows of a Safe: owners and nonce as a test says, delegates as owners listed them. */
export interface SafeFacts {
  readonly chainId: number;
  /** checksummed */
  readonly address: string;
  readonly owners: readonly string[];
  /** the nonce of its next execution */
  nonce(): bigint | Promise<bigint>;
}

const amount = z.union([z.int().min(0), z.string().regex(/^\d+$/)]).transform(BigInt);
/** The service refuses addresses without their checksum. */
const account = z.string().refine((text) => /^0x[0-9a-fA-F]{40}$/.test(text) && getAddress(text) === text);

const proposalForm = z.object({
  ...{ to: account, value: amount, data: z.string().nullable(), operation: z.union([z.literal(0), z.literal(1)]) },
  ...{ safeTxGas: amount, baseGas: amount, gasPrice: amount, gasToken: account, refundReceiver: account },
  ...{ nonce: amount, contractTransactionHash: z.string().regex(/^0x[0-9a-f]{64}$/), sender: account },
  signature: z.string().min(132).nullish(),
  origin: z.string().max(200).nullish(),
});
/** What is proposed, as it was posted. */
export type Posted = z.output<typeof proposalForm>;

const SAFE_TX = {
  SafeTx: [
    ...[
      { name: "to", type: "address" },
      { name: "value", type: "uint256" },
      { name: "data", type: "bytes" },
    ],
    ...[
      { name: "operation", type: "uint8" },
      { name: "safeTxGas", type: "uint256" },
    ],
    ...[
      { name: "baseGas", type: "uint256" },
      { name: "gasPrice", type: "uint256" },
    ],
    ...[
      { name: "gasToken", type: "address" },
      { name: "refundReceiver", type: "address" },
    ],
    { name: "nonce", type: "uint256" },
  ],
};

/** Judges a proposal by the service's rules. @returns why it is refused, in the service's form of words */
export async function judge(
  body: unknown,
  { safe, delegates }: { readonly safe: SafeFacts; readonly delegates: readonly string[] },
): Promise<Posted | { readonly refused: string }> {
  const read = proposalForm.safeParse(body);
  if (!read.success) return { refused: `${read.error.issues[0]?.path.join(".")} is not valid` };
  const posted = read.data;
  const { contractTransactionHash, sender, signature, ...fields } = posted;
  const message = { ...fields, data: fields.data ?? "0x" };
  const hash = TypedDataEncoder.hash({ chainId: safe.chainId, verifyingContract: safe.address }, SAFE_TX, message);
  if (hash !== contractTransactionHash)
    return {
      refused: `Contract-transaction-hash=${hash} does not match provided contract-tx-hash=${contractTransactionHash}`,
    };
  if (posted.nonce < (await safe.nonce()))
    return { refused: `Tx with nonce=${posted.nonce} for safe=${safe.address} already executed` };
  if (![...safe.owners, ...delegates].includes(sender))
    return { refused: `Sender=${sender} is not an owner or delegate` };
  if (signature === undefined || signature === null) return posted;
  if (signature.length !== 132) return { refused: "Just one signature is expected if using delegates" };
  const signer = recoverAddress(hash, signature);
  if (signer !== sender) return { refused: `Signature does not match sender=${sender}. Calculated owners=${signer}` };
  return posted;
}

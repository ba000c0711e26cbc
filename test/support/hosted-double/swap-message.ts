import { TypedDataEncoder } from "ethers";

/** What is signed for a swap. */
export interface SwapMessage {
  readonly router: string;
  readonly sender: string;
  readonly recipient: string;
  readonly fromAsset: string;
  readonly toAsset: string;
  readonly deadline: bigint;
  readonly amountOutMin: bigint;
  readonly swapFee: bigint;
  readonly amountIn: bigint;
  readonly affiliate: { readonly address: string; readonly fee: bigint } | undefined;
}

const PLAIN =
  "address router,address sender,address recipient,address fromAsset,address toAsset,uint256 deadline," +
  "uint256 amountOutMin,uint256 swapFee,uint256 amountIn";
const WITH_AFFILIATE = `${PLAIN},address affiliate,uint256 affiliateFee`;

/** The typed data of a message as it stands on the wire: numbers as text, no primary type, no domain type. */
export function wireTypedData(message: SwapMessage, chainId: number) {
  const { affiliate, ...plain } = message;
  const fields =
    affiliate === undefined ? plain : { ...plain, affiliate: affiliate.address, affiliateFee: affiliate.fee };
  return {
    domain: { name: "Magpie Router", version: "3", chainId: String(chainId), verifyingContract: message.router },
    types: { Swap: parseFields(affiliate === undefined ? PLAIN : WITH_AFFILIATE) },
    message: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)])),
  };
}

/** The digest that is signed. */
export function digestOf(message: SwapMessage, chainId: number): string {
  const { domain, types, message: fields } = wireTypedData(message, chainId);
  return TypedDataEncoder.hash(domain, types, fields);
}

function parseFields(list: string): { name: string; type: string }[] {
  return list.split(",").map((field) => {
    const [type = "", name = ""] = field.split(" ");
    return { name, type };
  });
}

import type { DecodedSwap, Decoding, PinnedSettlement } from "../../../domain/guard/decoded-swap.ts";
import { oneContract } from "../../../domain/guard/swap-contracts.ts";
import type { TypedData } from "../../../domain/guard/typed-data.ts";
import type { Address } from "../../../domain/money/address.ts";
import { parseRaw } from "../../../domain/money/amount.ts";
import { parseChecked } from "../checksum.ts";

/** What a profile pins of its swap signature. Types and domain are never taken from the service. */
export interface TypedSwapPin {
  readonly domain: { readonly name: string; readonly version: string };
  readonly hasNonce: boolean;
}

type Field = { readonly name: string; readonly type: "address" | "uint256" };

const KNOWN: Readonly<Record<Field["type"], string>> = {
  address: "address with a right checksum",
  uint256: "uint256",
};
const COMMON_FIELDS: readonly Field[] = [
  { name: "router", type: "address" },
  { name: "sender", type: "address" },
  { name: "recipient", type: "address" },
  { name: "fromAsset", type: "address" },
  { name: "toAsset", type: "address" },
  { name: "deadline", type: "uint256" },
  { name: "amountOutMin", type: "uint256" },
  { name: "swapFee", type: "uint256" },
  { name: "amountIn", type: "uint256" },
];
const NONCE_FIELD: Field = { name: "nonce", type: "uint256" };
const AFFILIATE_FIELDS: readonly Field[] = [
  { name: "affiliate", type: "address" },
  { name: "affiliateFee", type: "uint256" },
];
const DOMAIN_KEYS = ["name", "version", "chainId", "verifyingContract"];

/** The pinned fields, in their order, of a signature with or without an affiliate. */
function swapFields(pin: TypedSwapPin, withAffiliate: boolean): readonly Field[] {
  return [...COMMON_FIELDS, ...(pin.hasNonce ? [NONCE_FIELD] : []), ...(withAffiliate ? AFFILIATE_FIELDS : [])];
}

/** The EIP-712 type string of a list of fields: `Swap(address router,...)`. */
function typeString(primaryType: string, fields: readonly { name: string; type: string }[]): string {
  return `${primaryType}(${fields.map((field) => `${field.type} ${field.name}`).join(",")})`;
}

/**
 * Reads typed data that must be exactly the pinned one: same domain, same single type, same fields in the message.
 * A problem names what was seen, so that an operator can tell a new generation of a service from an attack.
 */
export function decodeTypedSwap(pin: TypedSwapPin, typedData: TypedData, pinned: PinnedSettlement): Decoding {
  const problem = domainProblem(pin, typedData.domain, pinned) ?? typesProblem(pin, typedData);
  if (problem !== undefined) return { ok: false, problem };
  const withAffiliate = (typedData.types.Swap ?? []).length === swapFields(pin, true).length;
  return readMessage(swapFields(pin, withAffiliate), typedData);
}

/**
 * Builds the typed data to sign from bound fields and the pin alone.
 * @throws Error when a field that the type needs is missing: the swap was not bound for this profile
 */
export function buildTypedSwap(pin: TypedSwapPin, swap: DecodedSwap, pinned: PinnedSettlement): TypedData {
  if (swap.sender === undefined) throw new Error("a swap signature needs its sender; this swap names none");
  if (pin.hasNonce && swap.nonce === undefined) throw new Error("a swap signature needs its nonce; this swap has none");
  const message: Record<string, string> = {
    router: requiredContract(swap),
    sender: swap.sender,
    recipient: swap.recipient,
    fromAsset: swap.fromAsset,
    toAsset: swap.toAsset,
    deadline: swap.deadline.toString(),
    amountOutMin: swap.amountOutMin.toString(),
    swapFee: swap.swapFee.toString(),
    amountIn: swap.amountIn.toString(),
  };
  if (swap.nonce !== undefined && pin.hasNonce) message.nonce = swap.nonce.toString();
  if (swap.affiliate !== undefined) {
    message.affiliate = swap.affiliate.address;
    message.affiliateFee = swap.affiliate.fee.toString();
  }
  return {
    domain: {
      ...pin.domain,
      chainId: pinned.chainId.toString(),
      verifyingContract: pinned.contracts.verifyingContract,
    },
    types: { Swap: swapFields(pin, swap.affiliate !== undefined) },
    primaryType: "Swap",
    message,
  };
}

function domainProblem(pin: TypedSwapPin, domain: TypedData["domain"], pinned: PinnedSettlement): string | undefined {
  const seen = `${String(domain.name)}/${String(domain.version)}`;
  if (domain.name !== pin.domain.name || domain.version !== pin.domain.version) {
    return `the typed data has the domain ${seen}, this profile knows ${pin.domain.name}/${pin.domain.version} only`;
  }
  const keys = Object.keys(domain);
  const unknown = keys.find((key) => !DOMAIN_KEYS.includes(key));
  if (unknown !== undefined) return `the domain ${seen} has the unknown field ${JSON.stringify(unknown)}`;
  const { chainId, verifyingContract } = domain;
  if (decimalText(chainId) !== pinned.chainId.toString()) {
    return `the domain ${seen} is of chain ${String(chainId)}, not of ${pinned.chainId}`;
  }
  if (parseChecked(verifyingContract) !== pinned.contracts.verifyingContract) {
    return `the domain ${seen} names the contract ${String(verifyingContract)}, not the pinned ${pinned.contracts.verifyingContract}`;
  }
  return undefined;
}

function typesProblem(pin: TypedSwapPin, typedData: TypedData): string | undefined {
  const names = Object.keys(typedData.types);
  if (typedData.primaryType !== "Swap" || names.length !== 1 || names[0] !== "Swap") {
    return `the typed data signs ${typedData.primaryType} out of the types ${names.join(", ")}, only Swap is known`;
  }
  const seen = typeString("Swap", typedData.types.Swap ?? []);
  const known = [false, true].map((withAffiliate) => typeString("Swap", swapFields(pin, withAffiliate)));
  return known.includes(seen) ? undefined : `the typed data has the unknown type ${seen}`;
}

function readMessage(fields: readonly Field[], { domain, message }: TypedData): Decoding {
  const unknown = Object.keys(message).find((key) => !fields.some((field) => field.name === key));
  if (unknown !== undefined)
    return { ok: false, problem: `the message has the unknown field ${JSON.stringify(unknown)}` };
  const addresses = new Map<string, Address>();
  const numbers = new Map<string, bigint>();
  for (const { name, type } of fields) {
    const value = Object.hasOwn(message, name) ? message[name] : undefined;
    const address = type === "address" ? parseChecked(value) : undefined;
    const number = type === "uint256" ? parseRaw(decimalText(value)) : undefined;
    if (address !== undefined) addresses.set(name, address);
    else if (number !== undefined) numbers.set(name, number);
    else return { ok: false, problem: `the message's ${name} is no ${KNOWN[type]}: ${describe(value)}` };
  }
  const addressOf = (name: string): Address => required(addresses, name);
  const numberOf = (name: string): bigint => required(numbers, name);
  const affiliate = addresses.has("affiliate")
    ? { address: addressOf("affiliate"), fee: numberOf("affiliateFee") }
    : undefined;
  return {
    ok: true,
    swap: {
      contracts: { ...oneContract(addressOf("router")), verifyingContract: parseChecked(domain.verifyingContract) },
      sender: addressOf("sender"),
      recipient: addressOf("recipient"),
      fromAsset: addressOf("fromAsset"),
      toAsset: addressOf("toAsset"),
      deadline: numberOf("deadline"),
      amountOutMin: numberOf("amountOutMin"),
      swapFee: numberOf("swapFee"),
      amountIn: numberOf("amountIn"),
      nonce: numbers.get("nonce"),
      affiliate,
      permitValue: undefined,
    },
  };
}

/** One contract is called, takes the tokens and checks the order. @throws Error when the swap names none to call */
function requiredContract({ contracts }: DecodedSwap): Address {
  if (contracts.target === undefined) throw new Error("a swap signature needs its router; this swap names none");
  return contracts.target;
}

function required<T>(values: ReadonlyMap<string, T>, name: string): T {
  const value = values.get(name);
  if (value === undefined) throw new Error(`the pinned fields lack ${name}`);
  return value;
}

/** Numbers arrive as decimal text, bigint or, for a chain id, as a JavaScript number. */
function decimalText(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  return typeof value === "number" && Number.isSafeInteger(value) ? value.toString() : value;
}

function describe(value: unknown): string {
  return value === undefined ? "missing" : String(value).slice(0, 80);
}

import type { PinnedSettlement } from "../../domain/guard/decoded-swap.ts";
import type { TypedData } from "../../domain/guard/typed-data.ts";
import type { Address } from "../../domain/money/address.ts";
import { parseRaw } from "../../domain/money/amount.ts";
import { parseChecked } from "./checksum.ts";

/** A field of a signed message: an address, an unsigned number of any width, or of whatever type one pinned value. */
export type Field =
  | { readonly name: string; readonly type: "address" | `uint${number}` }
  | { readonly name: string; readonly type: string; readonly is: string | boolean };

/** What a service's order is pinned to. Types and domain are never taken from the service. */
export interface MessagePin {
  readonly domain: { readonly name: string; readonly version: string };
  readonly primaryType: string;
  /** the forms that its one type may have, each with its fields in their order */
  readonly forms: readonly (readonly Field[])[];
}

/** The fields of a message that is exactly a pinned one. */
export interface PinnedMessage {
  readonly ok: true;
  /** the contract of the domain, which is the pinned one */
  readonly verifyingContract: Address;
  has(name: string): boolean;
  /** @throws Error when the form has no such field: the decoder asks for what it did not pin */
  address(name: string): Address;
  /** @throws Error like {@link PinnedMessage.address} */
  number(name: string): bigint;
}

type PinnedMessageResult = PinnedMessage | { readonly ok: false; readonly problem: string };

const DOMAIN_KEYS = ["name", "version", "chainId", "verifyingContract"];

/**
 * Reads typed data that must be exactly the pinned one: same domain, same single type, same fields in the message.
 * A problem names what was seen, so that an operator can know a new generation of a service from an attack.
 */
export function readPinnedMessage(
  pin: MessagePin,
  typedData: TypedData,
  pinned: PinnedSettlement,
): PinnedMessageResult {
  const problem = domainProblem(pin, typedData.domain, pinned) ?? typesProblem(pin, typedData);
  if (problem !== undefined) return { ok: false, problem };
  const seen = typeString(pin.primaryType, typedData.types[pin.primaryType] ?? []);
  const fields = pin.forms.find((form) => typeString(pin.primaryType, form) === seen) ?? [];
  return readFields(fields, typedData.message, pinned.contracts.verifyingContract);
}

/** Builds typed data from values and the pin alone: each field of the form that has no pinned value must have one. */
export function pinnedTypedData(
  { domain, primaryType }: MessagePin,
  form: readonly Field[],
  { message, pinned }: { readonly message: Readonly<Record<string, string>>; readonly pinned: PinnedSettlement },
): TypedData {
  const { chainId, contracts } = pinned;
  const constants = form.flatMap((field) => ("is" in field ? [[field.name, field.is] as const] : []));
  return {
    domain: { ...domain, chainId: chainId.toString(), verifyingContract: contracts.verifyingContract },
    types: { [primaryType]: form.map(({ name, type }) => ({ name, type })) },
    primaryType,
    message: { ...message, ...Object.fromEntries(constants) },
  };
}

/** The EIP-712 type string of a list of fields: `Swap(address router,...)`. */
function typeString(primaryType: string, fields: readonly { name: string; type: string }[]): string {
  return `${primaryType}(${fields.map((field) => `${field.type} ${field.name}`).join(",")})`;
}

function domainProblem(pin: MessagePin, domain: TypedData["domain"], pinned: PinnedSettlement): string | undefined {
  const seen = `${shown(domain.name)}/${shown(domain.version)}`;
  if (domain.name !== pin.domain.name || domain.version !== pin.domain.version) {
    return `the typed data has the domain ${seen}, this profile knows ${pin.domain.name}/${pin.domain.version} only`;
  }
  const keys = Object.keys(domain);
  const unknown = keys.find((key) => !DOMAIN_KEYS.includes(key));
  if (unknown !== undefined) return `the domain ${seen} has the unknown field ${quoted(unknown)}`;
  const { chainId, verifyingContract } = domain;
  if (decimalText(chainId) !== pinned.chainId.toString()) {
    return `the domain ${seen} is of chain ${shown(chainId)}, not of ${pinned.chainId}`;
  }
  const { verifyingContract: known } = pinned.contracts;
  if (parseChecked(verifyingContract) !== known) {
    return `the domain ${seen} names the contract ${shown(verifyingContract)}, not the pinned ${known}`;
  }
  return undefined;
}

function typesProblem({ primaryType, forms }: MessagePin, typedData: TypedData): string | undefined {
  const names = Object.keys(typedData.types);
  if (typedData.primaryType !== primaryType || names.length !== 1 || names[0] !== primaryType) {
    const [signs, types] = [shown(typedData.primaryType), shown(names.join(", "))];
    return `the typed data signs ${signs} out of the types ${types}, only ${primaryType} is known`;
  }
  const seen = typeString(primaryType, typedData.types[primaryType] ?? []);
  const known = forms.map((form) => typeString(primaryType, form));
  return known.includes(seen) ? undefined : `the typed data has the unknown type ${seen.slice(0, LONGEST_TYPE)}`;
}

function readFields(
  fields: readonly Field[],
  message: TypedData["message"],
  verifyingContract: Address,
): PinnedMessageResult {
  const unknown = Object.keys(message).find((key) => !fields.some((field) => field.name === key));
  if (unknown !== undefined) return { ok: false, problem: `the message has the unknown field ${quoted(unknown)}` };
  const addresses = new Map<string, Address>();
  const numbers = new Map<string, bigint>();
  for (const field of fields) {
    const { name } = field;
    const value = Object.hasOwn(message, name) ? message[name] : undefined;
    const read = readField(field, value);
    if (typeof read === "string") return { ok: false, problem: `the message's ${name} is ${read}: ${shown(value)}` };
    if ("address" in read) addresses.set(name, read.address);
    if ("number" in read) numbers.set(name, read.number);
  }
  return {
    ok: true,
    verifyingContract,
    has: (name) => addresses.has(name) || numbers.has(name),
    address: (name) => required(addresses, name),
    number: (name) => required(numbers, name),
  };
}

/** @returns what a value is not, in words, where it is not what the field has to be */
function readField(
  field: Field,
  value: unknown,
): { readonly address: Address } | { readonly number: bigint } | Record<string, never> | string {
  if ("is" in field) return value === field.is ? {} : `not the pinned ${JSON.stringify(field.is)}`;
  if (field.type === "address") {
    const address = parseChecked(value);
    return address === undefined ? "no address with a right checksum" : { address };
  }
  const number = parseRaw(decimalText(value));
  const isWithin = number !== undefined && number < 2n ** BigInt(field.type.slice("uint".length));
  return isWithin ? { number } : `no ${field.type}`;
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

const LONGEST_SHOWN = 80;
const LONGEST_TYPE = 400;

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, LONGEST_SHOWN));
}

/** A value as it was seen, of whatever kind: JavaScript throws at a JSON object that has a `toString` of its own. */
function shown(value: unknown): string {
  const isPlain = typeof value === "string" || typeof value === "bigint" || typeof value === "number";
  return (isPlain ? String(value) : (JSON.stringify(value) ?? "missing")).slice(0, LONGEST_SHOWN);
}

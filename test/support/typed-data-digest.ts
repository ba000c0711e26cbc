import type { TypedData } from "../../src/domain/guard/typed-data.ts";
import { keccak256 } from "./keccak.ts";

/**
 * The EIP-712 digest of flat typed data (addresses and uint256 only), computed from the standard's text. Shares no code
 * with the signer, so that a mistake of either shows.
 */
export function typedDataDigest(typedData: TypedData): string {
  const domainFields = [
    { name: "name", type: "string" },
    { name: "version", type: "string" },
    { name: "chainId", type: "uint256" },
    { name: "verifyingContract", type: "address" },
  ].filter(({ name }) => typedData.domain[name] !== undefined);
  const fields = typedData.types[typedData.primaryType];
  if (fields === undefined) throw new Error(`no type ${typedData.primaryType}`);
  const domain = hashStruct("EIP712Domain", domainFields, typedData.domain);
  const message = hashStruct(typedData.primaryType, fields, typedData.message);
  return hex(keccak256(Buffer.concat([Buffer.from([0x19, 0x01]), domain, message])));
}

/** Hash of a type string, as `0x` hex. */
export function typeHash(type: string): string {
  return hex(keccak256(Buffer.from(type, "utf8")));
}

type Fields = readonly { readonly name: string; readonly type: string }[];

function hashStruct(name: string, fields: Fields, values: Readonly<Record<string, unknown>>): Uint8Array {
  const type = `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(",")})`;
  const words = fields.map((field) => encode(field.type, values[field.name]));
  return keccak256(Buffer.concat([keccak256(Buffer.from(type, "utf8")), ...words]));
}

function encode(type: string, value: unknown): Uint8Array {
  if (type === "string" && typeof value === "string") return keccak256(Buffer.from(value, "utf8"));
  if (type === "address" && typeof value === "string" && /^0x[0-9a-fA-F]{40}$/.test(value)) {
    return Buffer.from(value.slice(2).padStart(64, "0"), "hex");
  }
  if (type === "uint256" && /^[0-9]{1,78}$/.test(String(value))) {
    return Buffer.from(BigInt(String(value)).toString(16).padStart(64, "0"), "hex");
  }
  throw new Error(`cannot encode ${String(value)} as ${type}`);
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

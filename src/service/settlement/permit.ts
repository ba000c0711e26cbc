import { randomBytes } from "node:crypto";
import { hexlify, Interface, Signature, verifyTypedData, Wallet } from "ethers";
import { malformedAnswer } from "../../chain/at-block/head.ts";
import { type JsonRpc, RpcError } from "../../chain/json-rpc.ts";
import { isFailedCall } from "../../chain/node-errors.ts";
import { findPermit, PERMIT_TYPES, type PermitDomain, type StatedPermit } from "../../chain/permit-domain.ts";
import { type Address, type Hex, isHex } from "../../domain/money/address.ts";
import type { WireTypedData } from "./order.ts";

/** The domain of a permit as typed data carries it; the chain id as decimal text. */
export type WirePermitDomain = Readonly<Record<string, string>>;

/** What a token can do with a signed permit. */
export type PermitSupport =
  | { readonly kind: "eip-2612"; readonly domain: WirePermitDomain }
  | Exclude<StatedPermit, { kind: "eip-2612" }>;

/** What a call of a token may use of the node: more than a permit costs anywhere. Anybody can have a token asked about. */
const TOKEN_CALL_GAS: Hex = "0x7a120";

/** Characters of a view's answer: names and domains of tokens have a tenth of it. */
const LONGEST_VIEW = 8_192;

const KEY_BYTES = 32;

const PERMIT_INTERFACE = new Interface([
  "function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)",
]);

/** Limits of one permit. `deadline` in Unix seconds. */
export interface PermitTerms {
  readonly owner: Address;
  readonly spender: Address;
  readonly value: bigint;
  readonly nonce: bigint;
  readonly deadline: bigint;
}

/** The typed data of an EIP-2612 permit, ready to sign. */
export function permitTypedData(domain: WirePermitDomain, terms: PermitTerms): WireTypedData {
  const message = {
    owner: terms.owner,
    spender: terms.spender,
    value: terms.value.toString(),
    nonce: terms.nonce.toString(),
    deadline: terms.deadline.toString(),
  };
  return { domain, types: PERMIT_TYPES, primaryType: "Permit", message };
}

/** Ethers' own typed data has mutable lists; ours are the same otherwise. */
function mutableTypes(typedData: WireTypedData) {
  return Object.fromEntries(Object.entries(typedData.types).map(([name, fields]) => [name, [...fields]]));
}

/** Who signed typed data, in lower case; undefined for anything that is no canonical 65-byte signature. */
export function recoverSigner(typedData: WireTypedData, signature: Hex): Address | undefined {
  const parsed = parseSignature(signature);
  if (parsed === undefined) return undefined;
  try {
    const signer = verifyTypedData(typedData.domain, mutableTypes(typedData), typedData.message, parsed);
    return signer.toLowerCase() as Address;
  } catch {
    // The numbers are in range but belong to no point of the curve: this is no signature.
    return undefined;
  }
}

/** Splits a 65-byte signature; undefined unless v is 27 or 28 and s is in the lower half. */
export function parseSignature(signature: Hex): Signature | undefined {
  if (signature.length !== 132) return undefined;
  try {
    const parsed = Signature.from(signature);
    return parsed.serialized === signature.toLowerCase() && parsed.isValid() ? parsed : undefined;
  } catch {
    // Ethers throws for values out of range; to us they are simply no signature.
    return undefined;
  }
}

function wireDomain(domain: PermitDomain): WirePermitDomain {
  return Object.fromEntries(Object.entries(domain).map(([field, value]) => [field, String(value)]));
}

/** What a call answered; what is no bytes says nothing of the token. @throws RpcError */
export function readCalled({ host }: JsonRpc, answer: unknown): Hex {
  if (isHex(answer)) return answer;
  throw malformedAnswer(host, "the node's answer to a call is no byte string");
}

/** Calls a view of a token; undefined where the token does not have it. */
async function viewToken(rpc: JsonRpc, token: Address, data: Hex): Promise<Hex | undefined> {
  try {
    const answer = await rpc.call("eth_call", [{ to: token, data, gas: TOKEN_CALL_GAS }, "latest"]);
    // Before anything looks at its characters: a token's own answer may have half a million bytes.
    if (typeof answer === "string" && answer.length > LONGEST_VIEW) return undefined;
    return readCalled(rpc, answer);
  } catch (error) {
    if (error instanceof RpcError && isFailedCall(error)) return undefined;
    throw error;
  }
}

async function permitSucceeds(
  rpc: JsonRpc,
  token: Address,
  terms: PermitTerms,
  signature: Signature,
): Promise<boolean> {
  const { owner, spender, value, deadline } = terms;
  const { v, r, s } = signature;
  const data = PERMIT_INTERFACE.encodeFunctionData("permit", [owner, spender, value, deadline, v, r, s]);
  try {
    readCalled(rpc, await rpc.call("eth_call", [{ from: spender, to: token, data, gas: TOKEN_CALL_GAS }, "latest"]));
    return true;
  } catch (error) {
    if (error instanceof RpcError && isFailedCall(error)) return false;
    throw error;
  }
}

/**
 * Finds out what a token's permit is, by trying: getters alone lie. A permit of a key made for this one call must pass,
 * and the same signature for another value must not (a fallback function accepts anything).
 * @throws RpcError when the node does not answer
 */
export async function detectPermit(
  rpc: JsonRpc,
  token: Address,
  network: { chainId: number; spender: Address },
): Promise<PermitSupport> {
  const stated = await findPermit({ address: token, chainId: network.chainId }, (data) => viewToken(rpc, token, data));
  if (stated.kind !== "eip-2612") return stated;
  const domain = wireDomain(stated.domain);
  // The library's own random wallets have a phrase of words, which takes as long as three quotes.
  const probe = new Wallet(hexlify(randomBytes(KEY_BYTES)));
  const owner = probe.address.toLowerCase() as Address;
  const terms = { owner, spender: network.spender, value: 1n, nonce: 0n, deadline: (1n << 48n) - 1n };
  const typedData = permitTypedData(domain, terms);
  const types = mutableTypes(typedData);
  const signature = Signature.from(await probe.signTypedData(typedData.domain, types, typedData.message));
  const [valid, forged] = await Promise.all([
    permitSucceeds(rpc, token, terms, signature),
    permitSucceeds(rpc, token, { ...terms, value: 2n }, signature),
  ]);
  return valid && !forged ? { kind: "eip-2612", domain } : { kind: "none" };
}

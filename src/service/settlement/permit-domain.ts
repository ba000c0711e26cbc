import { Interface, TypedDataEncoder } from "ethers";
import { type JsonRpc, RpcError } from "../../chain/json-rpc.ts";
import { isFailedCall } from "../../chain/node-errors.ts";
import type { Address, Hex } from "../../domain/money/address.ts";

const TOKEN_INTERFACE = new Interface([
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function PERMIT_TYPEHASH() view returns (bytes32)",
]);

/** An EIP-712 domain as typed data carries it; the chain id as decimal text. */
export type PermitDomain = Readonly<Record<string, string>>;

/** Versions that tokens sign with although they have no `version()`. */
const USUAL_VERSIONS = ["1", "2"];

/** The bridged form of some tokens signs with the chain in a salt instead of a number of its own. */
const SALT_DIGITS = 64;

/** What a call of a token may use of the node: more than a permit costs anywhere. Anybody can have a token asked about. */
export const TOKEN_CALL_GAS: Hex = "0x7a120";

/** Calls a view without arguments. @returns its first values, or undefined when the token has no such view */
async function readView(rpc: JsonRpc, token: Address, view: string): Promise<readonly unknown[] | undefined> {
  const data = TOKEN_INTERFACE.encodeFunctionData(view);
  try {
    const answer = await rpc.call("eth_call", [{ to: token, data, gas: TOKEN_CALL_GAS }, "latest"]);
    return TOKEN_INTERFACE.decodeFunctionResult(view, answer as Hex).toArray();
  } catch (error) {
    if (error instanceof RpcError && !isFailedCall(error)) throw error;
    // The view reverts, or answers something that is not of its type: the token does not have it.
    return undefined;
  }
}

async function readText(rpc: JsonRpc, token: Address, view: string): Promise<string | undefined> {
  const value = (await readView(rpc, token, view))?.[0];
  return typeof value === "string" ? value : undefined;
}

/** The token's own statement of its permit's type, where it makes one. */
export async function readPermitTypeHash(rpc: JsonRpc, token: Address): Promise<string | undefined> {
  return readText(rpc, token, "PERMIT_TYPEHASH");
}

async function statedDomain(rpc: JsonRpc, token: Address): Promise<PermitDomain | undefined> {
  const values = await readView(rpc, token, "eip712Domain");
  if (values === undefined) return undefined;
  const [fields, name, version, chainId, verifyingContract, salt] = values.map(String);
  const present = Number(fields);
  const parts: [number, string, string | undefined][] = [
    [1, "name", name],
    [2, "version", version],
    [4, "chainId", chainId],
    [8, "verifyingContract", verifyingContract?.toLowerCase()],
    [16, "salt", salt],
  ];
  const chosen = parts.filter(([bit, , value]) => (present & bit) !== 0 && value !== undefined);
  return Object.fromEntries(chosen.map(([, key, value]) => [key, value ?? ""]));
}

async function guessedDomains(rpc: JsonRpc, token: Address, chainId: number): Promise<PermitDomain[]> {
  const [name, version] = await Promise.all([readText(rpc, token, "name"), readText(rpc, token, "version")]);
  if (name === undefined) return [];
  const versions = version === undefined ? USUAL_VERSIONS : [version, ...USUAL_VERSIONS];
  const place = { chainId: chainId.toString(), verifyingContract: token };
  const salt = `0x${chainId.toString(16).padStart(SALT_DIGITS, "0")}`;
  const salted = versions.map((text) => ({ name, version: text, verifyingContract: token, salt }));
  return [...versions.map((text) => ({ name, version: text, ...place })), { name, ...place }, ...salted];
}

/** A domain with the chain id as its salt, which those who rebuild what they sign do not expect. */
function isSalted(domain: PermitDomain): boolean {
  return domain.salt !== undefined || domain.chainId === undefined;
}

/**
 * Finds the domain that a token's permits are signed in. A candidate counts only when its hash is the token's own
 * DOMAIN_SEPARATOR, because a permit in a wrong domain looks valid to everybody but the token.
 * @returns "unsupported" for a domain with a salt or without the chain's id, and for one that the token only states
 * (EIP-5267) and has no separator to hold it against
 */
export async function findPermitDomain(
  rpc: JsonRpc,
  token: Address,
  chainId: number,
): Promise<PermitDomain | "unsupported" | undefined> {
  const [separator, stated] = await Promise.all([readText(rpc, token, "DOMAIN_SEPARATOR"), statedDomain(rpc, token)]);
  if (separator === undefined) return stated === undefined ? undefined : "unsupported";
  const candidates = [...(stated === undefined ? [] : [stated]), ...(await guessedDomains(rpc, token, chainId))];
  const found = candidates.find((domain) => TypedDataEncoder.hashDomain(domain) === separator);
  return found !== undefined && isSalted(found) ? "unsupported" : found;
}

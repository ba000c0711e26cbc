import { Interface, type TypedDataDomain, Wallet } from "ethers";
import { ChainReadError } from "../domain/chain-read-error.ts";
import { delegationTo } from "../domain/guard/delegation.ts";
import { type Address, toAddress } from "../domain/money/address.ts";
import type { Endpoint } from "./endpoint.ts";
import { RpcError } from "./json-rpc.ts";
import { isFailedCall } from "./node-errors.ts";
import { PERMIT_TYPES } from "./permit-domain.ts";
import { tryOverrides } from "./probe-endpoint.ts";
import { type RpcPool, reasonOf, saidBy } from "./rpc-pool.ts";

const TOKEN = new Interface([
  "function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)",
]);

const FAR_FUTURE = 4_102_444_800n;

/**
 * Whether a token takes the permit of an account with this delegate. Tokens that check the code first ask the
 * delegate (ERC-1271) instead of the signature. It is tried with a key made for this one call, whose account is given
 * the same delegation: nothing of ours is signed.
 * @throws ChainReadError when no endpoint can try it
 */
export async function takesDelegatedPermit(
  pool: Pick<RpcPool, "converse">,
  request: { token: Address; delegate: Address; spender: Address; domain: Readonly<Record<string, unknown>> },
): Promise<boolean> {
  const { token, delegate, spender, domain } = request;
  const owner = Wallet.createRandom();
  const message = { owner: owner.address, spender, value: 1n, nonce: 0n, deadline: FAR_FUTURE };
  const signature = await owner.signTypedData(domain as TypedDataDomain, PERMIT_TYPES, message);
  const [r, s, v] = [signature.slice(0, 66), `0x${signature.slice(66, 130)}`, Number(`0x${signature.slice(130)}`)];
  const data = TOKEN.encodeFunctionData("permit", [owner.address, spender, 1n, FAR_FUTURE, v, r, s]);
  const lent = { [toAddress(owner.address)]: { code: delegationTo(delegate) } };
  const result = await pool.converse(async (endpoint) => {
    // Without the delegation the plain signature would do.
    const problem = await tryOverrides(endpoint);
    if (problem !== undefined) throw new ChainReadError("not available", `${endpoint.host}: ${problem}`);
    return await isTaken(endpoint, [{ from: spender, to: token, data }, "latest", lent]);
  });
  if (result.kind === "enough") return result.answer;
  const reason = `no RPC endpoint can try a permit of a delegated account: ${saidBy(result.failures)}`;
  throw new ChainReadError(reasonOf(result.failures), reason);
}

async function isTaken(endpoint: Endpoint, params: readonly unknown[]): Promise<boolean> {
  try {
    await endpoint.ask("eth_call", params);
    return true;
  } catch (error) {
    if (error instanceof RpcError && isFailedCall(error)) return false;
    throw error;
  }
}

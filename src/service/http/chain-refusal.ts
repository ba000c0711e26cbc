import { RpcError } from "../../chain/json-rpc.ts";
import { UnusableChainError } from "../../chain/unusable-chain.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import { WrongContractsError } from "../settlement/views.ts";

/** What callers get where a network's node is of no use; undefined for an error that is not the node's. */
export function chainRefusal(error: unknown): Refusal | undefined {
  if (error instanceof UnusableChainError) return refuse("CHAIN_UNREACHABLE", { detail: error.detail });
  if (error instanceof RpcError) return refuse("CHAIN_UNREACHABLE");
  return error instanceof WrongContractsError ? refuse("CONTRACTS_WRONG") : undefined;
}

import { RpcError } from "./json-rpc.ts";

/** The node answers properly, and what it says cannot be right for the configured network. */
export class UnusableChainError extends RpcError {
  /** what may be shown to callers: without the endpoint */
  readonly detail: string;

  constructor(host: string, message: string, detail: string) {
    super({ kind: "transport", host, message });
    this.detail = detail;
  }
}

/** The node serves another chain than the one that is configured. */
export class WrongChainError extends UnusableChainError {
  constructor(host: string, chains: { readonly actual: bigint; readonly wanted: number }) {
    const { actual, wanted } = chains;
    const message = `${host} serves chain ${actual}, the configuration says ${wanted}: correct the RPC endpoint`;
    super(host, message, `it serves chain ${actual} instead of ${wanted}`);
    this.name = "WrongChainError";
  }
}

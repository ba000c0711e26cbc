import { UnusableChainError } from "../../chain/unusable-chain.ts";

/** The network charges for data, and does not report how much: a cost that is not known is not taken for none. */
export class DataFeeUnknownError extends UnusableChainError {
  constructor(host: string, detail: string) {
    super(host, `${host}: ${detail}: correct the RPC endpoint, or dataFee in the preset`, detail);
    this.name = "DataFeeUnknownError";
  }
}

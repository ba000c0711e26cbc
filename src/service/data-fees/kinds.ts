import type { NetworkOptions } from "../options.ts";
import { arbitrumDataFees } from "./arbitrum.ts";
import { type DataFeeSource, NO_DATA_FEES } from "./data-fees.ts";
import { opStackDataFees } from "./op-stack.ts";

/** How a network's fees for data are asked for. */
export function dataFeesOf(
  network: Pick<NetworkOptions, "chainId" | "settlement" | "router" | "dataFee">,
): DataFeeSource {
  if (network.dataFee === "op-stack") return opStackDataFees(network);
  if (network.dataFee === "arbitrum") return arbitrumDataFees(network);
  return NO_DATA_FEES;
}

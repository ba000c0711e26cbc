import { expect, test } from "vitest";
import { RpcError } from "../../../src/chain/json-rpc.ts";
import { arbitrumDataFees } from "../../../src/service/data-fees/arbitrum.ts";
import { DataFeeUnknownError } from "../../../src/service/data-fees/unknown-fee.ts";

const { requests, decode } = arbitrumDataFees({ settlement: undefined });

function refusal(code: number, message: string): RpcError {
  return new RpcError({ kind: "rpc", host: "node", code, message: `node: ${message}`, nodeMessage: message });
}

test("a node that is busy is not taken for one that cannot know the gas for data", () => {
  const busy = refusal(-32_005, "limit of requests per second exceeded");
  expect(() => decode("node", [busy, ...requests.slice(1)])).toThrow(busy);
  const without = refusal(3, "execution reverted");
  expect(() => decode("node", [without, ...requests.slice(1)])).toThrow(DataFeeUnknownError);
  expect(() => decode("node", ["0x", ...requests.slice(1)])).toThrow(DataFeeUnknownError);
});

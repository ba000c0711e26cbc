import { publicRoutersProfile } from "../../../../src/adapters/swap-service/public-routers/service.ts";
import { bindingChecks, envelopeChecks } from "../../../../src/domain/guard/bind-swap.ts";
import { firstDenial } from "../../../../src/domain/guard/check.ts";
import { oneContract } from "../../../../src/domain/guard/swap-contracts.ts";
import type { Address, Hex } from "../../../../src/domain/money/address.ts";
import { expectedSample } from "../../../domain/guard/swap-samples.ts";
import { DAI, DEADLINE, ME, PINNED, ROUTER, USDC } from "./router-calls.ts";

/** What the daemon reads of calldata for the router. */
export function decode(data: Hex, value = 0n) {
  const transaction = { from: ME, to: ROUTER, data, value, chainId: 1, gasLimit: undefined };
  return publicRoutersProfile.decodeTransaction(transaction, PINNED);
}

/** What is read of the swap that all calls of these tests are, but for what they change. */
export const READ = {
  ...{ contracts: oneContract(ROUTER), sender: undefined, recipient: ME, fromAsset: USDC, toAsset: DAI },
  ...{ deadline: DEADLINE, amountOutMin: 90n, swapFee: 0n, amountIn: 100n },
  ...{ nonce: undefined, affiliate: undefined, permitValue: undefined },
};

/** Why the guard denies it, apart from the simulation, where 100 units of USDC were to be sold for at least 90 of DAI. */
export function denialOf(
  data: Hex,
  { value = 0n, to = ROUTER }: { value?: bigint; to?: Address } = {},
): string | undefined {
  const transaction = { from: ME, to, data, value, chainId: 1, gasLimit: undefined };
  const expected = expectedSample({
    ...({ mode: "self-executed", contracts: PINNED.contracts, chainId: 1, owner: ME, recipient: ME } as const),
    ...{ fromAsset: USDC, toAsset: DAI, gross: 100n, affiliate: undefined, requiredMinimum: 90n },
    ...{ nowSeconds: Number(DEADLINE) - 60, nonceRequired: false },
  });
  const decoding = publicRoutersProfile.decodeTransaction(transaction, PINNED);
  if (!decoding.ok) return "UNDECODABLE";
  return firstDenial([...envelopeChecks(transaction, expected), ...bindingChecks(decoding.swap, expected)])?.code;
}

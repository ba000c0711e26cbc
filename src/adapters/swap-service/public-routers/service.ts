import { oneContract } from "../../../domain/guard/swap-contracts.ts";
import type { ServiceProfile } from "../../../ports/swap-service.ts";
import type { SwapServiceKind } from "../service-kind.ts";
import { createWireClient } from "../wire/client.ts";
import { decodeRouterCall } from "./calldata.ts";

export const publicRoutersProfile: ServiceProfile = {
  isOurs: false,
  mayBeEmbedded: true,
  takesOrders: false,
  paysAffiliates: false,
  hasOneContract: true,
  targetKeepsNothing: true,
  contractsOn: ({ router }) => (router === undefined ? {} : oneContract(router)),
  furtherOn: ({ furtherRouters = [] }) => furtherRouters.map(({ address }) => oneContract(address)),
  signsTransactions: false,
  idempotentExecuteSwap: false,
  signatureHasNonce: false,
  expectedLimits: { keyless: 50, keyed: 200 },
  decodeTypedData: () => ({ ok: false, problem: "a public router takes no orders: there is nothing to sign" }),
  decodeTransaction: decodeRouterCall,
  typedData: () => {
    throw new Error("a public router takes no orders: there is nothing to sign");
  },
  simulationOfOrder: undefined,
  nonceRecord: undefined,
};

/**
 * Our own service where it settles through a router that stands for everybody: Uniswap's SwapRouter02, its like,
 * Slipstream's or Solidly's.
 */
export const publicRouters: SwapServiceKind = {
  profile: publicRoutersProfile,
  open: (options, dependencies) =>
    createWireClient(
      { profile: publicRoutersProfile, takesTimeLimit: true, recordsByQuoteAlone: true },
      options,
      dependencies,
    ),
};

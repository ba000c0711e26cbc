import { type ChainDeps, createChain } from "../chain/chain.ts";
import type { Configuration } from "../config/configuration.ts";
import { simulationMethodsOf } from "../domain/guard/policy.ts";
import type { Chain } from "../ports/chain.ts";
import { type Machine, thisMachine } from "./machine.ts";
import type { SecretOpener } from "./open-secrets.ts";

/** The chain that a configuration names, read through its endpoints. */
export function openChain(
  configuration: Configuration,
  secrets: SecretOpener,
  machine: Pick<Machine, "clock" | "fetch"> & Pick<ChainDeps, "onAbilities" | "onFault"> = thisMachine(),
): Chain {
  const { network, timing, policy } = configuration;
  return createChain(
    {
      rpcUrls: secrets.rpcUrls(configuration),
      submitUrls: secrets.submitUrls(configuration),
      chainId: network.chainId,
      tips: network.fees,
      dataFee: network.dataFee,
      timeoutMs: timing.requestTimeoutMs,
      trialWays: simulationMethodsOf(policy),
    },
    machine,
  );
}

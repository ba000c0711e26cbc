import { expect, test } from "vitest";
import { systemClock } from "../../../src/adapters/clock/system-clock.ts";
import { createChain } from "../../../src/chain/chain.ts";
import type { SimulationMethod } from "../../../src/domain/guard/simulation-method.ts";
import { Secret } from "../../../src/net/secret.ts";
import { ANVIL_ACCOUNT, OTHER_ACCOUNT, startBareAnvil } from "../../support/bare-anvil.ts";
import { startRpcProxy } from "../../support/rpc-proxy.ts";

const NODE_INTERFACE = "0x00000000000000000000000000000000000000c8";
/** What Arbitrum's node answers: the gas for data, the base fee, and the price of the layer below. */
const ANSWER = `0x${[90_000n, 10n ** 7n, 10n ** 9n].map((word) => word.toString(16).padStart(64, "0")).join("")}`;
const CALLS = [1n, 2n].map((value) => ({ from: ANVIL_ACCOUNT, to: OTHER_ACCOUNT, data: "0x", value }) as const);

async function begin() {
  const anvil = await startBareAnvil();
  const node = await startRpcProxy(anvil.url);
  const gasOn = async (dataFee: "arbitrum" | "op-stack" | undefined, way: SimulationMethod) => {
    const chain = createChain(
      { rpcUrls: [new Secret(node.url)], chainId: 31337, dataFee, trialWays: [way] },
      { clock: systemClock },
    );
    const outcome = await chain.simulate(CALLS);
    if (outcome.kind !== "ok") throw new Error(JSON.stringify(outcome));
    expect(outcome.gasUsed).toBe(outcome.gasUsedByCall.reduce((sum, gas) => sum + gas, 0n));
    return outcome.gasUsedByCall;
  };
  const isOfData = ([call]: readonly unknown[]) => (call as { to?: string }).to === NODE_INTERFACE;
  const answers = () => node.faultWhere({ method: "eth_call", where: isOfData }, { kind: "answer", result: ANSWER });
  return { gasOn, answers };
}

test("what a simulation leaves out is added on Arbitrum: the gas for data, call by call", async () => {
  const { gasOn, answers } = await begin();
  const bare = await gasOn(undefined, "simulate");
  expect(await gasOn("arbitrum", "simulate"), "a node of another kind takes nothing for data").toEqual(bare);
  const traced = await gasOn("arbitrum", "trace");
  answers();
  expect(await gasOn("arbitrum", "simulate")).toEqual(bare.map((gas) => gas + 90_000n));
  expect(await gasOn("arbitrum", "trace"), "a trace has it").toEqual(traced);
  expect(await gasOn("op-stack", "simulate")).toEqual(bare);
});

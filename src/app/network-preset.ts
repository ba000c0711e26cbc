import type { SandboxWorld } from "../sandbox/world.ts";

/** The sandbox renews every feed at least each ten seconds, also while its market stands still. */
const SANDBOX_HEARTBEAT_SECONDS = 10;
const SANDBOX_FEE_TIERS = [100, 500, 3_000, 10_000];

/** The facts of a sandbox as the network preset file that a configuration names. */
export function networkPresetOf(world: SandboxWorld): string {
  const preset = {
    chainId: world.chainId,
    nativeSymbol: "ETH",
    wrappedNative: world.wrappedNative,
    settlement: world.settlement,
    executor: world.executor,
    protocols: world.protocols,
    feeTiers: SANDBOX_FEE_TIERS,
    tokens: world.tokens,
    nativeFeed: world.feeds.ETH ?? world.tokens.WETH.feed,
    heartbeatSeconds: SANDBOX_HEARTBEAT_SECONDS,
  };
  return `${JSON.stringify(preset, null, 2)}\n`;
}

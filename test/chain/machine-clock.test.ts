import { expect, test } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { createChain } from "../../src/chain/chain.ts";
import { createClockWatch } from "../../src/engine/clock-watch.ts";
import { Secret } from "../../src/net/secret.ts";
import { startBareAnvil } from "../support/bare-anvil.ts";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, openLife } from "../support/engine-life.ts";

const HOUR_SECONDS = 3_600;

test("a machine's clock is checked against the blocks of a real node, in both directions", async () => {
  const anvil = await startBareAnvil();
  await anvil.mine();
  let aheadMs = 0;
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
  const chain = createChain({ rpcUrls: [new Secret(anvil.url)], chainId: 31337 }, { clock });
  const { context } = openLife(createOutside(SLOT_MS));
  const watch = createClockWatch({ ...context, deps: { ...context.deps, chain, clock } });
  watch.observe(await chain.latest());
  expect(await watch.check()).toBeUndefined();

  aheadMs = HOUR_SECONDS * 1_000;
  expect(await watch.check()).toMatch(/ (1h\d*m?|59m\d+s?) ahead of the chain's time/);
  const stop = new AbortController();
  const checking = watch.keepChecking(stop.signal);
  await anvil.rpc.call("evm_increaseTime", [HOUR_SECONDS]);
  await anvil.mine();
  await expect.poll(() => watch.check(), { timeout: 10_000 }).toBeUndefined();

  aheadMs = 0;
  expect(await watch.check()).toMatch(/ (1h\S*|5\dm\S*) behind the chain's time/);
  stop.abort();
  await checking;
});

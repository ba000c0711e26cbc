import { expect, onTestFinished, test } from "vitest";
import { createJsonRpc } from "../../../src/chain/json-rpc.ts";
import { createSnapshots } from "../../../src/service/pools/snapshots.ts";
import { systemClock } from "../support/system-clock.ts";
import { startTickNode, tickPool } from "../support/tick-node.ts";

// As a fork of Uniswap V3 whose `ticks` answers fewer words: it ended every quote of its tokens as a fault of the service.
test("a pool that does not answer for its own ticks has nothing to trade with, and others are as they were", async () => {
  const node = await startTickNode();
  const [odd, usual] = [tickPool(1), tickPool(2)];
  node.limits.withoutTicks = new Set([odd.address]);
  const rpc = createJsonRpc({ url: node.url, timeoutMs: 10_000, maxBytes: 16_000_000 });
  const snapshots = createSnapshots({ rpc }, systemClock);
  onTestFinished(snapshots.stop);
  const snapshot = await snapshots.current();
  expect(await snapshot.state(odd)).toBeUndefined();
  expect((await snapshot.state(usual))?.quote(usual.token0, 10n ** 9n).kind).toBe("filled");
});

import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { addRelayerGauges } from "../../../src/service/http/relayer-metrics.ts";
import type { ServedNetwork } from "../../../src/service/http/served-network.ts";

test("a node that never answers holds up the figures of all others once, and not for each of its own reads", async () => {
  const silence = () => new Promise<never>(() => undefined);
  const silent = {
    options: { name: "base" },
    rpc: { host: "node" },
    snapshots: { current: silence },
    intake: { report: silence },
  };
  const registry = new Registry();
  const read = addRelayerGauges(registry, [silent as unknown as ServedNetwork]);
  const beganMs = performance.now();
  await read();
  expect(performance.now() - beganMs).toBeLessThan(3_500);
  expect(await registry.metrics()).toContain('swapd_service_gasless{network="base"} 0');
});

import { expect, test } from "vitest";
import { toAddress } from "../../../src/domain/money/address.ts";
import { NO_DATA_FEES } from "../../../src/service/data-fees/data-fees.ts";
import type { PoolDirectory } from "../../../src/service/pools/directory.ts";
import type { Snapshot } from "../../../src/service/pools/snapshots.ts";
import { createRouter } from "../../../src/service/routing/router.ts";

const addressOf = (place: number) => toAddress(`0x${place.toString(16).padStart(40, "0")}`);
const WRAPPED = addressOf(1);

test("paths are worked out once a block, of so many pairs: strangers may ask for more while a chain stands still", async () => {
  let checks = 0;
  const directory: PoolDirectory = {
    async poolsOf() {
      checks += 1;
      return [];
    },
  };
  const router = createRouter(
    { wrappedNative: WRAPPED, hubTokens: [] },
    { directory, findRoute: async () => undefined },
  );
  const dataFees = NO_DATA_FEES.decode("node", []);
  const snapshot = { head: { gasPrice: 1n }, dataFees, read: async () => undefined } as unknown as Snapshot;
  const route = (place: number) =>
    router.route({ from: WRAPPED, to: addressOf(place), amountIn: 1n, sources: undefined }, snapshot);
  await route(2);
  const readsOfOne = checks;
  await route(2);
  expect(checks).toBe(readsOfOne);
  for (let place = 3; place < 2_100; place += 1) await route(place);
  checks = 0;
  await route(2);
  expect(checks).toBeGreaterThan(0);
});

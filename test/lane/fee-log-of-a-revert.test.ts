import { expect, test } from "vitest";
import { bloomOf } from "../../src/chain/logs-bloom.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { startLaneWorld } from "../support/lane-world.ts";

/**
 * Polygon's client adds a log of the fee to every transaction, also where it reverted (0xPolygon/bor@09c78485
 * core/state_transition.go, AddFeeTransferLog); zkSync's bootloader does the same.
 */
const FEE_LOG = {
  address: toAddress("0x0000000000000000000000000000000000001010"),
  topics: ["0x4dfe1bbbcf077ddc3e01291eea2d5c70c2b422b415d95645b9adcfd678cb1d63" as const],
  data: `0x${"00".repeat(160)}` as const,
};

test("a revert whose receipt lists the fee among its logs ends, and the next transaction is sent", async () => {
  const world = await startLaneWorld();
  world.submit("a", { to: world.reverting });
  world.submit("b");
  await world.tick();
  await world.anvil.mine();
  const [attempt] = world.attempts("a");
  const receipt = await world.anvil.rpc.call("eth_getTransactionReceipt", [attempt?.hash]);
  expect(receipt).toMatchObject({ status: "0x0", logs: [] });
  const log = { ...FEE_LOG, logIndex: "0x0", transactionHash: attempt?.hash };
  const result = Object.assign({}, receipt, { logs: [log], logsBloom: bloomOf([FEE_LOG]) });
  world.proxy.fault("eth_getTransactionReceipt", { kind: "answer", result });
  await world.step(30);
  expect(world.intent("a")).toMatchObject({ state: "final", outcome: "reverted" });
  world.proxy.clear();
  await world.step(2);
  expect(world.intent("b")).toMatchObject({ nonce: 1, outcome: "succeeded" });
});

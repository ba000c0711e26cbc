import { Interface } from "ethers";
import { expect, test } from "vitest";
import { createApprovalReader } from "../../../src/adapters/sqlite/daemon/approval-rows.ts";
import { readLaneHistory } from "../../../src/adapters/sqlite/lane-history.ts";
import type { Hex } from "../../../src/domain/money/address.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { GWEI, NOW_MS, RELAYER, ROUTER, runSample, USDC, WALLET, WETH } from "../../support/builders.ts";
import { addRun } from "../../support/daemon-database.ts";
import { ACCOUNT, createOutside, openLife } from "../../support/engine-life.ts";
import { submit as addIntent, intentRow } from "../../support/lane-database.ts";
import { swapIn } from "../../support/reading-samples.ts";
import { memoryDirectory } from "../../support/temporary-directory.ts";

const APPROVE = new Interface(["function approve(address spender, uint256 amount)"]);

function begin() {
  const life = openLife(createOutside(NOW_MS));
  const submit = (id: string): void =>
    addIntent(
      life.lanes,
      { account: ACCOUNT, chainId: 31_337 },
      {
        ...{
          id,
          purpose: "revoke",
          to: USDC.address,
          data: "0x",
          value: 0n,
          gasLimit: 60_000n,
          maxFeePerGasCap: 100n * GWEI,
        },
        ...{ signBySeconds: Math.floor(NOW_MS / 1_000) + 600, deadlineSeconds: undefined },
      },
    );
  return { life, submit };
}

test("open transactions are all shown, of those that are over the newest, with wishes and halts", async () => {
  const { life, submit } = begin();
  for (const id of ["a", "b", "c", "d"]) submit(id);
  for (const id of ["a", "b"]) life.lanes.updateIntent(id, { state: "dropped" });
  await life.lane.cancel("c", "ops");
  const halt = { account: ACCOUNT, chainId: 31_337, reason: "a stranger", transactionCount: 1, atMs: 5 };
  life.lanes.addHalt(halt);
  const { intents, halts } = readLaneHistory(life.db, 1);
  expect(intents.map(({ id, state, cancelledBy }) => [id, state, cancelledBy])).toEqual([
    ["d", "planned", null],
    ["c", "planned", "ops"],
    ["b", "dropped", null],
  ]);
  expect(halts).toEqual([{ account: ACCOUNT, reason: "a stranger", atMs: 5 }]);
});

test("attempts are shown with their fees", async () => {
  const { life, submit } = begin();
  submit("a");
  await life.lane.tick();
  expect(readLaneHistory(life.db, 1).intents[0]?.attempts).toEqual(
    life.lanes
      .attempts("a")
      .map(({ hash, kind, visibility, state, maxFeePerGas, maxPriorityFeePerGas, signedAtMs }) => ({
        ...{ hash, kind, visibility, state, signedAtMs },
        ...{ maxFeePerGas: String(maxFeePerGas), maxPriorityFeePerGas: String(maxPriorityFeePerGas) },
      })),
  );
});

test("a database that no daemon has used has no transactions", () => {
  const db = openDatabase({ file: `${memoryDirectory()}/empty.db` });
  expect(readLaneHistory(db, 5)).toEqual({ intents: [], halts: [] });
  db.close();
});

test("anyone who was granted an allowance or signed for is a spender, and the live right names its swap", () => {
  const { life } = begin();
  const run = runSample({ swaps: [swapIn("signed")] });
  addRun(life.store, run);
  const reader = createApprovalReader(life.db);
  expect(reader.swapUsing(WALLET, USDC.address)).toBeUndefined();
  life.store.writeRecord(run, { kind: "grant", wallet: WALLET, token: USDC.address, spender: RELAYER }, 1);
  const right = { swapId: "run_1.0.1", wallet: WALLET, token: USDC.address, spender: ROUTER };
  life.store.writeRecord(run, { kind: "open-capability", ...right, untilSeconds: undefined }, 1);
  expect([...reader.spenders()].sort()).toEqual([RELAYER, ROUTER].sort());
  const used = { wallet: WALLET, token: USDC.address, spender: ROUTER, swap: "run_1.0.1" };
  expect(reader.swapUsing(WALLET, USDC.address)).toEqual(used);
  life.store.writeRecord(run, { kind: "close-capability", swapId: "run_1.0.1" }, 2);
  expect(reader.swapUsing(WALLET, USDC.address)).toBeUndefined();
});

test.each(["approving", "quoted", "cleared"] as const)(
  "the swap whose allowance is approved uses it before it is signed (%s)",
  (state) => {
    const { life } = begin();
    const swap = swapIn(state, { approvals: 1 });
    addRun(life.store, runSample({ swaps: [swap] }));
    const reader = createApprovalReader(life.db);
    expect(reader.swapUsing(WALLET, USDC.address)).toBeUndefined();
    const data = APPROVE.encodeFunctionData("approve", [ROUTER, 100n]) as Hex;
    life.lanes.insertIntent(intentRow({ id: `${swap.id}.approve1`, purpose: "approve", account: WALLET, data }));
    const used = { wallet: WALLET, token: USDC.address, spender: ROUTER, swap: swap.id };
    expect(reader.swapUsing(WALLET, USDC.address)).toEqual(used);
    expect(reader.swapUsing(WALLET, WETH.address)).toBeUndefined();
  },
);

test.each(["skipped", "denied"] as const)("a swap that ended without a signature uses no allowance (%s)", (state) => {
  const { life } = begin();
  const swap = swapIn(state, { approvals: 1 });
  addRun(life.store, runSample({ swaps: [swap] }));
  const data = APPROVE.encodeFunctionData("approve", [ROUTER, 100n]) as Hex;
  life.lanes.insertIntent(intentRow({ id: `${swap.id}.approve1`, purpose: "approve", account: WALLET, data }));
  expect(createApprovalReader(life.db).swapUsing(WALLET, USDC.address)).toBeUndefined();
});

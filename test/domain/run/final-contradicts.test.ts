import { expect, test } from "vitest";
import type { StepResult } from "../../../src/domain/run/draft.ts";
import type { TransactionChange } from "../../../src/domain/run/events.ts";
import type { Run } from "../../../src/domain/run/run.ts";
import { step } from "../../../src/domain/run/step.ts";
import { evidenceSample, HUNDRED_USDC, RELAYER, runSample, USDC, WALLET, WETH } from "../../support/builders.ts";
import { receiptFor, swapIn, transferLog } from "../../support/reading-samples.ts";

const report = (run: Run, change: TransactionChange): StepResult =>
  step(run, { kind: "transaction", swapId: "run_1.0.1", intentId: "run_1.0.1.swap", change }, evidenceSample());

test("a fill that was counted by one node's word, and that all endpoints call reverted in its final block, is reported as lost", () => {
  const counted = report(runSample({ swaps: [swapIn("mined", { mode: "self-executed" })] }), {
    kind: "confirmed",
    succeeded: true,
  });
  expect([counted.run.state, counted.run.swaps[0]?.state]).toEqual(["filled", "confirmed"]);
  const ended = report(counted.run, { kind: "final", outcome: "reverted" });
  expect(ended.run.swaps[0]?.state).toBe("reverted");
  const codes = ended.records.flatMap((record) => (record.kind === "alert" ? [record.code] : []));
  expect([ended.run.state, codes]).toEqual(["failed", ["FILL_TAKEN_BACK"]]);
  const money = ended.records.flatMap((record) => (/spend|release/.test(record.kind) ? [record.kind] : []));
  expect(money, "no row moves from spent to released").toEqual(["unspend", "release"]);
});

test("what one node called a success until it was confirmed, and then reverted, is no fill", () => {
  const mined = runSample({ swaps: [swapIn("mined", { mode: "self-executed" })] });
  const reported = report(mined, { kind: "confirmed", succeeded: false });
  expect(reported.run).toMatchObject({ state: "executing", swaps: [{ state: "mined", fill: undefined }] });
  expect(reported.records).toEqual([]);
});

test("a receipt that lacks one of two sales in the final block does not make less of what the same block showed before", () => {
  const swap = swapIn("mined", { mode: "self-executed" });
  const half = HUNDRED_USDC / 2n;
  const sale = (amount: bigint) => transferLog({ token: USDC.address, from: WALLET, to: RELAYER, amount });
  const got = transferLog({ token: WETH.address, from: RELAYER, to: WALLET, amount: 10n ** 18n });
  const receipt = receiptFor(swap, { logs: [sale(half), sale(half), got] });
  const confirmed = report(runSample({ swaps: [swap] }), { kind: "confirmed", succeeded: true, receipt, value: 0n });
  expect(confirmed.run.swaps[0]?.fill?.sold).toBe(HUNDRED_USDC);
  const lacking = { ...receipt, logs: [sale(half), got] };
  const final = report(confirmed.run, { kind: "final", outcome: "succeeded", receipt: lacking, value: 0n });
  expect(final.run.swaps[0]?.fill?.sold).toBe(HUNDRED_USDC);
});

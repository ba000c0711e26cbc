import { expect, test } from "vitest";
import { decodeSwap, encodeSwap, type SwapColumns } from "../../../../src/adapters/sqlite/daemon/codec.ts";
import { createHistoryReader } from "../../../../src/adapters/sqlite/daemon/history-rows.ts";
import { unpack } from "../../../../src/adapters/sqlite/daemon/pack.ts";
import { oneContract, type StatedContracts } from "../../../../src/domain/guard/swap-contracts.ts";
import { toAddress } from "../../../../src/domain/money/address.ts";
import type { StepInput } from "../../../../src/domain/run/replay.ts";
import type { Swap } from "../../../../src/domain/run/run.ts";
import { evidenceSample, ROUTER, runSample } from "../../../support/builders.ts";
import { addRun, addStrategy, openDaemonDatabase } from "../../../support/daemon-database.ts";
import { decodedFor, readingFor, swapIn } from "../../../support/reading-samples.ts";

const APART = {
  spender: toAddress(`0x${"a1".repeat(20)}`),
  target: toAddress(`0x${"a2".repeat(20)}`),
  verifyingContract: toAddress(`0x${"a3".repeat(20)}`),
};
const signed = swapIn("submitted", { mode: "gasless" });

const rowOf = (swap: Swap): SwapColumns => encodeSwap(swap) as unknown as SwapColumns;

function stepOf(contracts: StatedContracts, pinned = APART): StepInput {
  const swap = swapIn("quoted");
  const decoding = { ok: true, swap: decodedFor(swap, { contracts }) } as const;
  const event = { kind: "facts-read", swapId: swap.id, reading: readingFor(swap, { decoding }) } as const;
  return { event, evidence: evidenceSample({ service: { contracts: pinned, signatureHasNonce: true } }) };
}

/** Writes a step, and gives it as it is stored and as it is read. */
function writtenAndRead(step: StepInput): { readonly text: string; readonly read: unknown } {
  const { db, store } = openDaemonDatabase();
  addStrategy(store);
  const run = addRun(store, runSample());
  store.transaction(() => store.addStep(run.id, step));
  const rows = db.prepare<[], { body: Uint8Array }>("SELECT body FROM steps UNION ALL SELECT body FROM step_settings");
  const text = rows.all().map(({ body }) => unpack(body));
  return { text: text.join("\n"), read: createHistoryReader(db).storedRun(run.id)?.steps[0] };
}

/** The decoded contracts and the pinned ones of a step that was read. */
function contractsOf(step: unknown): unknown {
  const { event, evidence } = step as StepInput;
  if (event.kind !== "facts-read" || !event.reading.decoding.ok) throw new Error("another event came back");
  return [event.reading.decoding.swap.contracts, evidence.service.contracts];
}

test("one contract is stored as the router that every release reads", () => {
  expect(rowOf(signed).body).toContain(`"terms":{"router":"${ROUTER}","amountOutMin"`);
  expect(decodeSwap(rowOf(signed)).terms).toEqual(signed.terms);
  const { text, read } = writtenAndRead(stepOf(oneContract(ROUTER), oneContract(ROUTER)));
  expect(text).toContain(`"swap":{"router":"${ROUTER}",`);
  expect(text).toContain(`"service":{"router":"${ROUTER}","signatureHasNonce":true}`);
  expect(text).not.toContain("contracts");
  expect(contractsOf(read)).toEqual([oneContract(ROUTER), oneContract(ROUTER)]);
});

test("three contracts come back as three, and none that was not named is made up", () => {
  if (signed.terms === undefined) throw new Error("the sample is unbound");
  const swap = { ...signed, terms: { ...signed.terms, contracts: APART } };
  expect(decodeSwap(rowOf(swap)).terms).toEqual(swap.terms);
  expect(contractsOf(writtenAndRead(stepOf(APART)).read)).toEqual([APART, APART]);
  for (const stated of [{ verifyingContract: ROUTER }, { target: ROUTER, spender: ROUTER }]) {
    expect(contractsOf(writtenAndRead(stepOf(stated)).read)).toEqual([stated, APART]);
  }
});

import { expect, test } from "vitest";
import { checkSwap } from "../../../src/domain/guard/check-swap.ts";
import type { SimulationReading } from "../../../src/domain/run/events.ts";
import { factsOf } from "../../../src/domain/run/reading-to-facts.ts";
import { evidenceSample } from "../../support/builders.ts";
import { approvalSample, readingFor, swapIn } from "../../support/reading-samples.ts";

const RESET_AND_APPROVAL = 26_000n + 46_000n;

function checked(withApproval: boolean) {
  const swap = swapIn("quoted");
  const plain = readingFor(swap);
  const simulation = plain.simulation as Extract<SimulationReading, { kind: "ok" }>;
  const reading = withApproval ? { ...plain, ...{ allowance: 0n, approval: approvalSample(swap) } } : plain;
  const gasUsed = simulation.gasUsed + (withApproval ? RESET_AND_APPROVAL : 0n);
  const facts = factsOf(swap, { ...reading, simulation: { ...simulation, gasUsed } }, evidenceSample());
  const values = new Map(checkSwap(facts).checks.map(({ code, value }) => [code, value]));
  return { facts, fee: values.get("FEE_CAP_EXCEEDED"), left: values.get("GAS_RESERVE_TOO_LOW") };
}

test("what the approvals before a swap use counts against max_fee and gas_reserve, as the swap's own gas does", () => {
  const [alone, approved] = [checked(false), checked(true)];
  expect((approved.facts.gas?.limit ?? 0n) - (alone.facts.gas?.limit ?? 0n)).toBe(RESET_AND_APPROVAL);
  expect(alone.fee).toMatch(/%$/);
  expect(Number.parseFloat(approved.fee ?? "")).toBeGreaterThan(Number.parseFloat(alone.fee ?? "") * 1.3);
  expect(approved.left).not.toBe(alone.left);
});

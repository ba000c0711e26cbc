import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DecodedSwap } from "../../src/domain/guard/decoded-swap.ts";
import { NATIVE_TOKEN } from "../../src/domain/money/address.ts";
import { type HostileService, startHostileService } from "../support/hostile-service.ts";
import { judge } from "./judge.ts";
import { withValue } from "./mutations.ts";
import { ATTACKER, NOW, nameOf, OWNER, payloadsFor, SCENARIOS, type Scenario } from "./scenario.ts";

let service: HostileService;

beforeAll(async () => {
  service = await startHostileService();
});

afterAll(() => service.stop());

const swept = SCENARIOS.filter(({ affiliate, mode }) => affiliate || mode === "self-executed");

describe.each(swept.map((scenario) => [nameOf(scenario), scenario] as const))("a service (%s)", (_name, scenario) => {
  if (scenario.affiliate) {
    it("gets nothing else signed, whatever stands in any field of its answers", () => sweepFields(scenario));
  }
  if (scenario.mode === "self-executed") {
    it("gets nothing but the meant order signed, whichever byte of the calldata is changed", () =>
      sweepBytes(scenario));
  }
});

/** Puts junk into every field of the answers, leaves and branches alike. */
async function sweepFields(scenario: Scenario): Promise<void> {
  const honest = payloadsFor(scenario);
  const control = await judge(service, scenario, honest);
  if (control.kind !== "signed") throw new Error("the honest answers were denied");
  const junk = [null, "", "0", "-1", "1e30", 0, 1e30, true, [], {}, ATTACKER, "0x", "x".repeat(300), "\u0000"];
  for (const [part, source] of Object.entries(honest)) {
    for (const path of leavesOf(source ?? {})) {
      for (const value of junk) {
        const payloads = { ...honest, [part]: withValue(source ?? {}, path, value) };
        const judgement = await judge(service, scenario, payloads);
        if (judgement.kind === "denied") continue;
        expect(withinFreedom(judgement.swap, control.swap), `${part}.${path.join(".")}`).toEqual(control.swap);
        if (judgement.transaction !== undefined) expect(judgement.transaction).toEqual(control.transaction);
      }
    }
  }
}

/** Changes single bytes of the calldata. */
async function sweepBytes(scenario: Scenario): Promise<void> {
  const honest = payloadsFor(scenario);
  const control = await judge(service, scenario, honest);
  const { transaction } = honest;
  if (control.kind !== "signed" || transaction === undefined) throw new Error("the honest answers were denied");
  const data = String(transaction.data);
  const property = fc.asyncProperty(
    fc.integer({ min: 0, max: (data.length - 4) / 2 }),
    fc.integer({ min: 1, max: 255 }),
    async (at, mask) => {
      const byte = (Number.parseInt(data.slice(2 + at * 2, 4 + at * 2), 16) ^ mask).toString(16).padStart(2, "0");
      const changed = `${data.slice(0, 2 + at * 2)}${byte}${data.slice(4 + at * 2)}`;
      const payloads = { ...honest, transaction: { ...transaction, data: changed } };
      const judgement = await judge(service, scenario, payloads);
      if (judgement.kind === "denied") return true;
      const { amountOutMin } = judgement.swap;
      const bound = { ...judgement.swap, amountOutMin: control.swap.amountOutMin };
      expect(withinFreedom(bound, control.swap)).toEqual(control.swap);
      return amountOutMin >= control.swap.amountOutMin;
    },
  );
  await fc.assert(property, { numRuns: 200 });
}

/**
 * The service chooses who relays (not us, not nobody), the nonce, and the deadline within bounds. None of these changes
 * what may leave or must arrive.
 */
function withinFreedom(swap: DecodedSwap, control: DecodedSwap): DecodedSwap {
  expect([OWNER, NATIVE_TOKEN]).not.toContain(swap.sender);
  expect(swap.deadline > BigInt(NOW) && swap.deadline <= BigInt(NOW + 300)).toBe(true);
  const nonce = swap.nonce === undefined ? undefined : control.nonce;
  return { ...swap, sender: control.sender, deadline: control.deadline, nonce };
}

function leavesOf(value: object, path: readonly string[] = []): string[][] {
  return Object.entries(value).flatMap(([key, child]) => {
    const here = [...path, key];
    return typeof child === "object" && child !== null ? [here, ...leavesOf(child, here)] : [here];
  });
}

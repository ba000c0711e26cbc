import { describe, expect, test } from "vitest";
import type { Hex } from "../../../src/domain/money/address.ts";
import { readSimulation as read } from "../../../src/service/simulation/wallet-simulation.ts";

const quantity = (value: number): Hex => `0x${value.toString(16)}`;
const AMOUNT_OUT = `0x${"7".padStart(64, "0")}`;

const readSimulation = (host: string, said: readonly unknown[]) => read(host, said, (answer) => BigInt(answer));

/** The answers of a node to a swap that works. */
function answers({ estimate, gasUsed }: { estimate?: number; gasUsed?: number }): readonly unknown[] {
  const next = gasUsed === undefined ? null : [{ calls: [{ status: "0x1", gasUsed: quantity(gasUsed) }] }];
  return [AMOUNT_OUT, estimate === undefined ? null : quantity(estimate), next];
}

describe("the gas limit of a swap that was tried", () => {
  test("is enough for the next block, where a pool's first trade writes more than in this one, before refunds", () => {
    // Figures of a swap that ran out with 336,216, which is the estimate with its room.
    const simulated = readSimulation("node", answers({ estimate: 292_362, gasUsed: 288_653 }));
    expect(simulated).toMatchObject({ kind: "works", amountOut: 7n, gasUsed: 288_653n });
    expect(simulated).toMatchObject({ gasLimit: 414_940n });
  });

  test("is the estimate with its room where that is more, and where the node says nothing of the next block", () => {
    expect(readSimulation("node", answers({ estimate: 400_000, gasUsed: 300_000 }))).toMatchObject({
      gasLimit: 460_000n,
    });
    expect(readSimulation("node", answers({ estimate: 400_000 }))).toMatchObject({
      gasLimit: 460_000n,
      gasUsed: undefined,
    });
  });

  test("is unknown without an estimate and without the next block's gas", () => {
    expect(readSimulation("node", answers({}))).toMatchObject({ kind: "works", gasLimit: undefined });
  });
});

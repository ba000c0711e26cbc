import { expect, test } from "vitest";
import { createCommitter } from "../../src/engine/commit.ts";
import { registerStrategies } from "../../src/engine/register-strategies.ts";
import { NOW_MS, runSample } from "../support/builders.ts";
import { addRun } from "../support/daemon-database.ts";
import { ACCOUNT, createOutside, type Outside, openLife } from "../support/engine-life.ts";
import { swapIn } from "../support/reading-samples.ts";

const YEAR_MS = 365 * 24 * 3_600_000;

test.each([0, 1])(
  "failures that a clock saw %i years ahead do not leave a strategy at exits only with each later one, for all that time",
  async (years) => {
    const outside = createOutside(NOW_MS);
    let aheadMs = 0;
    const nowMs = (): number => outside.clock.nowMs() + aheadMs;
    const clock: Outside["clock"] = Object.create(outside.clock, { nowMs: { value: nowMs, configurable: true } });
    const life = openLife({ ...outside, clock });
    await registerStrategies(life.context);
    const committer = createCommitter(life.context, () => undefined);
    const fail = async (count: number): Promise<void> => {
      const id = `run_${count}`;
      const intentId = `${id}.0.1.swap`;
      const swap = swapIn("submitted", {
        id: `${id}.0.1`,
        runId: id,
        wallet: ACCOUNT,
        mode: "self-executed",
        intentId,
      });
      addRun(life.store, runSample({ id, slotMs: NOW_MS + count * 1_000, swaps: [swap] }));
      const change = { kind: "final", outcome: "reverted" } as const;
      await committer.commit({ runId: id, event: { kind: "transaction", swapId: swap.id, intentId, change } });
    };
    const { failures } = life.context.settings.policy.pauseAfter;
    aheadMs = years * YEAR_MS;
    for (let count = 1; count < failures; count += 1) await fail(count);
    aheadMs = 0;
    // A month later, one more.
    await outside.clock.jumpTo(NOW_MS + YEAR_MS / 12);
    await fail(failures);
    expect(life.store.mode("weekly")?.mode ?? "active").toBe("active");
  },
);

import { expect, test } from "vitest";
import { createHistoryReader } from "../../../../src/adapters/sqlite/daemon/history-rows.ts";
import type { Evidence } from "../../../../src/domain/run/evidence.ts";
import { gatherEvidence } from "../../../../src/engine/gather-evidence.ts";
import { registerStrategies } from "../../../../src/engine/register-strategies.ts";
import { NOW_MS, runSample } from "../../../support/builders.ts";
import { addRun } from "../../../support/daemon-database.ts";
import { createOutside, openLife } from "../../../support/engine-life.ts";

async function begin() {
  const life = openLife(createOutside(NOW_MS));
  await registerStrategies(life.context);
  const run = addRun(life.store, runSample());
  const event = { kind: "started" } as const;
  const evidence = await gatherEvidence(life.context, run, event);
  const write = (changed: Partial<Evidence> = {}): void =>
    life.store.addStep(run.id, { event, evidence: { ...evidence, ...changed } });
  const read = () =>
    createHistoryReader(life.db)
      .storedRun(run.id)
      ?.steps.map(({ evidence: stored }) => stored);
  return { life, evidence, write, read };
}

test("a step under settings that changed in one value is not stored with those of the step before", async () => {
  const { evidence, write, read } = await begin();
  const policy = { ...evidence.policy, gasReserve: evidence.policy.gasReserve + 1n };
  write();
  write({ policy });
  write({ live: !evidence.live });
  write();
  expect(read()).toEqual([evidence, { ...evidence, policy }, { ...evidence, live: !evidence.live }, evidence]);
});

test("settings whose row was removed meanwhile are stored again with the next step", async () => {
  const { life, evidence, write, read } = await begin();
  write();
  life.db.exec("DELETE FROM steps; DELETE FROM step_settings");
  write();
  expect(read()).toEqual([evidence]);
});

import { expect, test } from "vitest";
import { takeRequests } from "../../src/engine/operator-requests.ts";
import { alertSample, RELAYER, SLOT_MS } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, openLife } from "../support/engine-life.ts";
import { silentLogger } from "../support/silent-logger.ts";

const HALT = { account: ACCOUNT, chainId: 31_337, reason: "a stranger's transaction", transactionCount: 3, atMs: 1 };

/** What an operator is answered. */
async function ask(life: Life, change: Record<string, string>, logger = silentLogger()): Promise<string | undefined> {
  const request = { command: "mode", arguments: change, madeBy: "ann", madeAtMs: SLOT_MS };
  const id = life.store.addRequest(request);
  await takeRequests({ ...life.context, deps: { ...life.context.deps, logger } });
  return life.store.answerOf(id);
}

test("a halted account goes on when a person goes back to active for everything, and by nothing less", async () => {
  const life = openLife(createOutside(SLOT_MS));
  life.lanes.addHalt(HALT);
  for (const change of [
    { mode: "paused", scope: "global" },
    { mode: "halted", scope: "global" },
    { mode: "active", scope: "weekly" },
  ]) {
    await ask(life, change);
    expect(life.lanes.halt(ACCOUNT, 31_337)).toEqual(HALT);
  }
  const logger = silentLogger();
  const answer = await ask(life, { mode: "active", scope: "global" }, logger);
  expect(answer).toBe(`global is active; released ${ACCOUNT}, which was halted because a stranger's transaction`);
  expect(logger.lines).toMatchObject([{ fields: { madeBy: "ann", answer } }]);
  expect(life.lanes.halt(ACCOUNT, 31_337)).toBeUndefined();
  expect(life.lanes.account(ACCOUNT, 31_337).acceptedCount).toBe(3);
  const released = life.db.prepare("SELECT released_by FROM lane_halts").pluck().all();
  expect(released).toEqual(["ann"]);
  expect(await ask(life, { mode: "active", scope: "global" })).toBe("global is active");
});

test("an account whose wallet was taken out of the configuration is released too: what is said of it is over", async () => {
  const life = openLife(createOutside(SLOT_MS));
  life.lanes.addHalt({ ...HALT, account: RELAYER });
  const alert = { subject: `account ${RELAYER}`, code: "ACCOUNT_HALTED", severity: "critical" } as const;
  life.store.raiseAlert(alertSample({ ...alert, strategy: undefined }));
  const answer = await ask(life, { mode: "active", scope: "global" });
  expect(answer).toBe(`global is active; released ${RELAYER}, which was halted because a stranger's transaction`);
  expect(life.db.prepare("SELECT count(*) FROM alerts WHERE over_at_ms IS NULL").pluck().get()).toBe(0);
});

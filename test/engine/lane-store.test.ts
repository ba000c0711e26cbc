import { expect, test } from "vitest";
import { registerStrategies } from "../../src/engine/register-strategies.ts";
import { NOW_MS, runSample } from "../support/builders.ts";
import { addRun } from "../support/daemon-database.ts";
import { ACCOUNT, createOutside, Killed, type Life, openLife } from "../support/engine-life.ts";
import { attemptRow, intentRow, submit } from "../support/lane-database.ts";
import { hash, swapIn } from "../support/reading-samples.ts";

const LANE = { account: ACCOUNT, chainId: 31_337 };

/** A daemon with a swap that waits in the lane for its signature. @returns it, and the transaction's name */
async function begin(
  options: Parameters<typeof openLife>[1] = {},
): Promise<{ life: Life; reported: unknown[]; id: string }> {
  const outside = createOutside(NOW_MS);
  const life = openLife(outside, options);
  await registerStrategies(life.context);
  const swap = swapIn("cleared", { wallet: ACCOUNT, recipient: ACCOUNT, mode: "self-executed" });
  const id = `${swap.id}.swap`;
  addRun(life.store, runSample({ swaps: [{ ...swap, intentId: id }] }));
  submit(life.lanes, LANE, intentRow({ id }), NOW_MS);
  life.lanes.updateIntent(id, { nonce: 0 });
  return { life, reported: outside.reported, id };
}

/** Stores the bytes of a transaction, as the lane does. */
async function sign({ engine }: Life, id: string): Promise<void> {
  await engine.committer.laneStore.commit({
    question: { ...LANE, intent: { id } },
    decide: () => ({
      changes: [
        { kind: "attempt", attempt: attemptRow({ intentId: id, hash: hash("ee") }) },
        { kind: "intent-moved", intentId: id, from: "planned", to: "signed", fields: {}, detail: undefined },
      ],
      ...{ atMs: NOW_MS, value: undefined, event: { intentId: id, kind: "signed", hash: hash("ee") } },
    }),
  });
}

const states = ({ db }: Life): unknown[] =>
  db
    .prepare(
      "SELECT (SELECT state FROM lane_intents), (SELECT count(*) FROM lane_attempts), (SELECT state FROM swaps), (SELECT count(*) FROM steps)",
    )
    .raw()
    .get() as unknown[];

test.each([
  ["before", ["planned", 0, "cleared", 0]],
  ["after", ["signed", 1, "signed", 1]],
] as const)("a kill %s the commit leaves a transaction and its swap together: %j", async (moment, expected) => {
  const { life, id } = await begin({ killAt: (label) => label === `commit.transaction.${moment}` });
  await expect(sign(life, id)).rejects.toThrow(Killed);
  expect(states(life)).toEqual(expected);
});

test("where the step of the run cannot be written, nothing of its transaction is", async () => {
  const { life, id } = await begin();
  life.db.exec("CREATE TRIGGER refuse BEFORE INSERT ON steps BEGIN SELECT RAISE(ABORT, 'no step today'); END");
  await expect(sign(life, id)).rejects.toThrow("no step today");
  expect(states(life)).toEqual(["planned", 0, "cleared", 0]);
});

test("what becomes of a revocation of the janitor steps no run", async () => {
  const { life } = await begin();
  submit(life.lanes, LANE, intentRow({ id: "revoke_17", purpose: "revoke" }), NOW_MS);
  const question = { ...LANE, intent: { id: "revoke_17" } };
  const event = { intentId: "revoke_17", kind: "dropped", reason: "late" } as const;
  await life.engine.committer.laneStore.commit({
    question,
    decide: () => ({ changes: [], atMs: NOW_MS, value: undefined, event }),
  });
  expect(states(life)).toEqual(["planned", 0, "cleared", 0]);
});

test("of a halt that could not be written nobody hears", async () => {
  const { life, reported } = await begin();
  life.db.exec("CREATE TRIGGER refuse BEFORE INSERT ON lane_halts BEGIN SELECT RAISE(ABORT, 'no halt today'); END");
  await expect(life.lane.halt("a stranger")).rejects.toThrow("no halt today");
  expect([reported, life.db.prepare("SELECT code FROM alerts").all()]).toEqual([[], []]);
});

test("an intent of another account is not found by this one's lane", async () => {
  const { life, id } = await begin();
  const other = `0x${"1".repeat(40)}` as const;
  expect(
    (await life.engine.committer.laneStore.read({ ...LANE, account: other as typeof ACCOUNT, intent: { id } })).intent,
  ).toBe(undefined);
});

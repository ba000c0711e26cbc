import { expect, test } from "vitest";
import { createReadModel } from "../../src/adapters/sqlite/daemon/read-model.ts";
import { DAY_MS } from "../../src/domain/time/durations.ts";
import { decideLotOrder } from "../../src/engine/lot-orders.ts";
import { takeRequests } from "../../src/engine/operator-requests.ts";
import { registerStrategies } from "../../src/engine/register-strategies.ts";
import { ROUTER, SLOT_MS } from "../support/builders.ts";
import { ACCOUNT, createOutside, openLife } from "../support/engine-life.ts";
import { live } from "../support/old-runs.ts";

test("a standing order is written down with its time, who asked for it, and the answer", async () => {
  const outside = createOutside(SLOT_MS - 10_000);
  const life = openLife(outside);
  await registerStrategies(life.context);
  const ask = async (args: Record<string, string>): Promise<string | undefined> => {
    const id = life.store.addRequest({ command: "lot-order", arguments: args, madeBy: "ops", madeAtMs: 7 });
    await takeRequests(life.context);
    return life.store.answerOf(id);
  };
  expect(await ask({ wallet: ACCOUNT, pick: "highest-cost" })).toContain("take lots in the order highest-cost");
  expect(await ask({ wallet: ACCOUNT, pick: "prettiest" })).toMatch(
    /^refused: .* oldest, newest, highest-cost, lowest-cost/,
  );
  expect(await ask({ wallet: "main", pick: "oldest" })).toMatch(/^refused:/);
  const { lotOrders } = await createReadModel(life.db).books();
  expect(lotOrders).toEqual([
    {
      id: 1,
      wallet: ACCOUNT.toLowerCase(),
      pick: "highest-cost",
      madeBy: "ops",
      sinceMs: life.context.deps.clock.nowMs(),
    },
  ]);
});

test("a clock that is behind names no lots of sales that were made, and an order stays as it is", async () => {
  const { life } = await live({ gasless: "never" }, undefined, { seconds: 160 });
  const newest = life.db.prepare<[], number>("SELECT max(block_time_seconds) FROM swaps").pluck().get() ?? 0;
  expect(newest).toBeGreaterThan(0);
  const behind = { nowMs: 1, newestFillMs: life.store.newestFillMs() };
  const asked = { arguments: { wallet: ACCOUNT, pick: "newest" }, madeBy: "ops" };
  const { changes } = decideLotOrder(asked, behind);
  await life.store.commit([{ question: { kind: "nothing" }, decide: () => ({ changes, atMs: 1, value: undefined }) }]);
  const { lotOrders } = await createReadModel(life.db).books();
  expect(lotOrders.map(({ sinceMs }) => sinceMs)).toEqual([newest * 1_000]);
  const insert = "INSERT INTO lot_orders (wallet, pick, made_by, at_ms) VALUES ('0x', 'oldest', 'ops', 5)";
  expect(() => life.db.exec(insert)).toThrow("holds for sales after it");
  expect(() => life.db.exec("UPDATE lot_orders SET pick = 'oldest'")).toThrow("never changes");
  expect(() => life.db.exec("DELETE FROM lot_orders")).toThrow("never deleted");
});

test("no order is written down by a clock that cannot be believed, and one that was bars no later ones", async () => {
  const outside = createOutside(SLOT_MS - 10_000);
  const life = openLife(outside);
  await registerStrategies(life.context);
  const ask = async (clockProblem?: string, madeAtMs = 7): Promise<string | undefined> => {
    const args = { wallet: ACCOUNT, pick: "newest" };
    const id = life.store.addRequest({ command: "lot-order", arguments: args, madeBy: "ops", madeAtMs });
    await takeRequests(life.context, { clockProblem });
    return life.store.answerOf(id);
  };
  expect(await ask("the clock is ahead")).toBe("refused: the clock is ahead; then ask again");
  const order = { pick: "oldest", madeBy: "ops", sinceMs: SLOT_MS + 365 * DAY_MS } as const;
  for (const wallet of [ACCOUNT, ROUTER]) life.store.addLotOrder({ ...order, wallet });
  const nowMs = life.context.deps.clock.nowMs();
  expect(await ask()).toContain(
    `sales of ${ACCOUNT} after ${new Date(nowMs).toISOString()} take lots in the order newest`,
  );
  const { lotOrders } = await createReadModel(life.db).books();
  expect(lotOrders.map(({ id, sinceMs }) => [id, sinceMs])).toEqual([
    [1, order.sinceMs],
    [2, order.sinceMs],
    [3, nowMs],
  ]);
});

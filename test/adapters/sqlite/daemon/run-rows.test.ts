import { describe, expect, test } from "vitest";
import type { Swap } from "../../../../src/domain/run/run.ts";
import { SWAP_STATES } from "../../../../src/domain/run/states.ts";
import type { EffectGroup } from "../../../../src/ports/daemon-rows.ts";
import { HUNDRED_USDC, NOW_MS, ROUTER, runSample, SLOT_MS, swapSample } from "../../../support/builders.ts";
import { addRun, openDaemonDatabase, saveAs } from "../../../support/daemon-database.ts";
import { hash, swapIn } from "../../../support/reading-samples.ts";

const typedData = {
  domain: { name: "swapd", chainId: 31_337n },
  types: { Swap: [{ name: "amountIn", type: "uint256" }] },
  primaryType: "Swap",
  message: { amountIn: 2n ** 255n, note: { $bigint: "x" } },
};

describe("a run with its swaps comes back as it was written", () => {
  test.each(SWAP_STATES)("in state %s, in both modes", (state) => {
    const { store } = openDaemonDatabase();
    const own = swapIn(state, { reason: "why", approvals: 2, tightened: true });
    const place = { id: "run_1.1.1", position: 1, mode: "gasless", gasless: "prefer", serviceSwapId: "s1" } as const;
    const relayed = swapIn(state, place);
    const quote = relayed.quote === undefined ? undefined : { ...relayed.quote, typedData };
    const run = runSample({ reason: "reorganised", detail: "d", swaps: [own, { ...relayed, quote }] });
    addRun(store, run);
    expect(store.run(run.id)).toEqual(run);
  });

  test("with a plan that waits for proceeds, and amounts beyond every number type", () => {
    const { store } = openDaemonDatabase();
    const planned = { kind: "proceeds", of: [0, 1], base: -(2n ** 200n), share: 1n, max: 2n ** 255n, min: 0n };
    const change = { begun: false, gross: undefined, planned } as unknown as Partial<Swap>;
    const run = runSample({ swaps: [swapSample({ ...change, wallet: swapSample().wallet })] });
    addRun(store, run);
    expect(store.run(run.id)).toEqual(run);
  });

  test("and an unknown id gives nothing", () => {
    expect(openDaemonDatabase().store.run("run_2")).toBeUndefined();
  });
});

test("a slot of a strategy has one run, whatever asks again after a kill", () => {
  const { store, db } = openDaemonDatabase();
  const due = runSample({ state: "due" });
  expect(store.insertRun(due, NOW_MS)).toBe(true);
  expect(store.insertRun({ ...due, id: "run_2" }, NOW_MS)).toBe(false);
  expect(store.insertRun({ ...due, id: "run_3", slotMs: SLOT_MS + 1 }, NOW_MS)).toBe(true);
  expect(store.insertRun({ ...due, id: "run_4", strategyId: "other" }, NOW_MS)).toBe(true);
  const rows = db.prepare("SELECT subject_id, from_state, to_state FROM transitions ORDER BY id").all();
  expect(rows).toEqual([
    { subject_id: "run_1", from_state: null, to_state: "due" },
    { subject_id: "run_3", from_state: null, to_state: "due" },
    { subject_id: "run_4", from_state: null, to_state: "due" },
  ]);
});

test("a swap keeps its row over all its states, and its place in the run is its own", () => {
  const { store, db } = openDaemonDatabase();
  const run = addRun(store, runSample({ swaps: [swapIn("quoted")] }));
  saveAs(store, { ...run, swaps: [swapIn("confirmed")] }, NOW_MS + 5);
  expect(db.prepare("SELECT state, hash, sold, created_at_ms, updated_at_ms FROM swaps").all()).toEqual([
    {
      ...{ state: "confirmed", hash: hash("ee"), sold: HUNDRED_USDC.toString() },
      ...{ created_at_ms: NOW_MS, updated_at_ms: NOW_MS + 5 },
    },
  ]);
  const twin = { ...swapIn("planned"), id: "run_1.0.1b" };
  expect(() => saveAs(store, { ...run, swaps: [swapIn("confirmed"), twin] })).toThrow("UNIQUE");
});

test("history cannot be rewritten: transitions refuse every update and delete", () => {
  const { store, db } = openDaemonDatabase();
  const move = { subject: "run", subjectId: "run_1", from: "due", to: "deciding", reason: "r", detail: "d" } as const;
  const run = addRun(store, runSample({ state: "due" }));
  store.saveRun({ ...run, state: "deciding" }, [move], NOW_MS);
  expect(() => db.exec("UPDATE transitions SET to_state = 'filled'")).toThrow("transitions are append-only");
  expect(() => db.exec("DELETE FROM transitions")).toThrow("transitions are append-only");
  expect(db.prepare("SELECT from_state, to_state, reason, detail FROM transitions ORDER BY id DESC").get()).toEqual({
    ...{ from_state: "due", to_state: "deciding", reason: "r", detail: "d" },
  });
});

test("the instant of a run's end stays when it is saved again, and goes when a reorganisation reopens it", () => {
  const { store, db } = openDaemonDatabase();
  const run = addRun(store, runSample());
  const endedAt = (): unknown => db.prepare("SELECT ended_at_ms FROM runs").pluck().get();
  expect(endedAt()).toBeNull();
  saveAs(store, { ...run, state: "failed" }, 10);
  saveAs(store, { ...run, state: "failed" }, 20);
  expect(endedAt()).toBe(10);
  saveAs(store, { ...run, state: "executing" }, 30);
  expect(endedAt()).toBeNull();
  saveAs(store, { ...run, state: "filled" }, 40);
  expect(endedAt()).toBe(40);
});

test("open runs are found by their strategy", () => {
  const { store } = openDaemonDatabase();
  const states = ["due", "deciding", "executing", "parked", "filled", "partial", "skipped", "failed"] as const;
  for (const [index, state] of states.entries()) {
    addRun(store, runSample({ id: `run_${state}`, strategyId: state, slotMs: SLOT_MS - index, state }));
  }
  expect(states.filter((state) => store.hasOpenRun(state))).toEqual(["due", "deciding", "executing", "parked"]);
  expect(store.hasOpenRun("nobody")).toBe(false);
});

test("runs that have not begun are found, oldest slot first, and no more of them than asked for", () => {
  const { store } = openDaemonDatabase();
  for (const [index, state] of (["due", "due", "due", "executing", "filled"] as const).entries()) {
    addRun(store, runSample({ id: `run_${index}`, strategyId: `s${index}`, slotMs: SLOT_MS - index, state }));
  }
  expect(store.dueRuns(9)).toEqual(["run_2", "run_1", "run_0"]);
  expect(store.dueRuns(2)).toEqual(["run_2", "run_1"]);
});

test("a transaction finds its run by its name, and one that no swap asked for finds none", () => {
  const { store } = openDaemonDatabase();
  addRun(store, runSample({ swaps: [swapIn("cleared")] }));
  const owner = { runId: "run_1", swapId: "run_1.0.1" };
  for (const id of ["run_1.0.1.swap", "run_1.0.1.approve2"]) expect(store.runOfIntent(id)).toEqual(owner);
  for (const id of ["revoke_1", "run_1.0.2.swap", "run_1", ""]) expect(store.runOfIntent(id)).toBeUndefined();
});

test("what a transaction fills beside a swap is found by its sides: filled by it, or open and filled by nothing yet", () => {
  const { store } = openDaemonDatabase();
  const { wallet, recipient, sell, buy } = swapSample();
  const sides = { wallet, recipient, sell: sell.address, buy: buy.address };
  const add = (id: string, swap: Swap): void => {
    const run = { id, strategyId: id, swaps: [{ ...swap, id: `${id}.0.1`, runId: id }] };
    addRun(store, runSample(run));
  };
  const gasless = { mode: "gasless", wallet: ROUTER } as const;
  add("filled", swapIn("confirmed", gasless));
  add("open", swapIn("submitted", gasless));
  add("own", swapIn("submitted", { wallet: ROUTER }));
  add("elsewhere", swapIn("submitted", { ...gasless, recipient: ROUTER }));
  add("ended", swapIn("expired", gasless));
  const found = (id: string, asked = sides, fill = hash("ee")) =>
    store
      .filledBeside(id, fill, asked)
      .map(({ runId }) => runId)
      .sort();
  expect(found("another")).toEqual(["filled", "open"]);
  expect(found("open.0.1")).toEqual(["filled"]);
  expect(found("another", sides, hash("ab"))).toEqual(["open"]);
  expect(found("another", { ...sides, buy: ROUTER, sell: buy.address })).toEqual(
    ["filled", "open"].filter(() => wallet === recipient),
  );
  expect(found("another", { ...sides, recipient: ROUTER, buy: sell.address })).toContain("open");
  expect(found("another", { ...sides, buy: ROUTER, sell: ROUTER })).toEqual([]);
});

test("a transaction of another swap that sells the same, or of a lane, is never taken for this swap's fill", () => {
  const { store, lanes } = openDaemonDatabase();
  const { wallet, sell } = swapSample();
  const [first, second] = [1, 2].map((run) => ({ id: `run_${run}.0.1`, wallet, token: sell.address }));
  if (first === undefined || second === undefined) throw new Error("there are two swaps");
  addRun(store, runSample({ swaps: [swapIn("confirmed", { mode: "gasless" })] }));
  expect(store.hashOfOther(hash("ee"), first)).toBe(false);
  expect(store.hashOfOther(hash("ee"), second)).toBe(true);
  expect(store.hashOfOther(hash("ee"), { ...second, wallet: ROUTER })).toBe(false);
  expect(store.hashOfOther(hash("ee"), { ...second, token: ROUTER })).toBe(false);
  expect(store.hashOfOther(hash("ab"), second)).toBe(false);
  lanes.insertIntent({
    ...{ id: "revoke_1", account: swapSample().wallet, chainId: 31_337, purpose: "revoke", to: swapSample().wallet },
    ...{ data: "0x", value: 0n, gasLimit: 1n, maxFeePerGasCap: 1n, signBySeconds: 1, deadlineSeconds: undefined },
    ...{ state: "planned", nonce: undefined, outcome: undefined, minedBlockNumber: undefined },
    ...{ minedBlockHash: undefined, minedAttemptHash: undefined, createdAtMs: 1 },
  });
  lanes.insertAttempt({
    ...{ hash: hash("ab"), intentId: "revoke_1", kind: "original", raw: "0x02", nonce: 0, maxFeePerGas: 1n },
    ...{ maxPriorityFeePerGas: 1n, visibility: "public", state: "signed", signedAtMs: 1 },
    ...{ firstBroadcastBlock: undefined, lastBroadcastAtMs: undefined, lastBroadcastBlock: undefined },
  });
  expect(store.hashOfOther(hash("ab"), second)).toBe(true);
});

describe("effects", () => {
  const quote = { kind: "FetchQuote", swapId: "run_1.0.1", amount: "1", gasless: true, slippagePpm: "5000" } as const;

  test("wait for their instant, come in its order, and are gone once they are answered", () => {
    const { store } = openDaemonDatabase();
    addRun(store, runSample({ swaps: [swapSample()] }));
    store.addEffects(
      "run_1",
      [
        { effect: quote, notBeforeMs: 20.5 },
        { effect: { kind: "ReadView" }, notBeforeMs: 10 },
      ],
      1,
    );
    expect(store.dueEffects(9, 10, "no routes")).toEqual([]);
    expect(store.nextEffectMs()).toBe(10);
    const due = store.dueEffects(21, 10, "no routes");
    expect(due).toEqual([
      { id: 2, runId: "run_1", effect: { kind: "ReadView" } },
      { id: 1, runId: "run_1", effect: quote },
    ]);
    expect(store.dueEffects(21, 1, "no routes")).toHaveLength(1);
    store.finishEffect(2);
    expect(store.dueEffects(21, 10, "no routes").map(({ id }) => id)).toEqual([1]);
    expect(store.nextEffectMs()).toBe(21);
    store.finishEffect(1);
    expect(store.nextEffectMs()).toBeUndefined();
  });

  test("come by groups, the longest due first: a check of an open swap waits for no route, which is for people", () => {
    const { store } = openDaemonDatabase();
    addRun(store, runSample({ swaps: [swapSample()] }));
    const route = { kind: "FetchRoute", swapId: "run_1.0.1", what: "route" } as const;
    store.addEffects("run_1", [{ effect: route, notBeforeMs: 1 }], 1);
    store.addEffects("run_1", [{ effect: { kind: "ReadChain", swapId: "run_1.0.1" }, notBeforeMs: 5 }], 1);
    store.addEffects("run_1", [{ effect: { kind: "ReadView" }, notBeforeMs: 3 }], 1);
    const kinds = (group: EffectGroup, limit = 9) => store.dueEffects(9, limit, group).map(({ effect }) => effect.kind);
    expect(kinds("no routes")).toEqual(["ReadView", "ReadChain"]);
    expect(kinds("no routes", 1)).toEqual(["ReadView"]);
    expect([kinds("polls"), kinds("others"), kinds("routes")]).toEqual([["ReadChain"], ["ReadView"], ["FetchRoute"]]);
  });

  test("that a clock ahead of this one wrote to wait is due now, and one that waits by this clock goes on waiting", () => {
    const { store } = openDaemonDatabase();
    addRun(store, runSample());
    store.addEffects("run_1", [{ effect: { kind: "ReadView" }, notBeforeMs: 5_010 }], 5_000);
    store.addEffects("run_1", [{ effect: { kind: "ReadView" }, notBeforeMs: 120 }], 90);
    store.hastenEffects(100);
    expect(store.dueEffects(100, 9, "others").map(({ id }) => id)).toEqual([1]);
  });

  test("that a clock ahead of this one put off are due now", () => {
    const { store } = openDaemonDatabase();
    addRun(store, runSample());
    store.addEffects("run_1", [{ effect: { kind: "ReadView" }, notBeforeMs: 90 }], 90);
    store.postponeEffect(1, 5_000);
    store.hastenEffects(100);
    expect(store.dueEffects(100, 9, "others").map(({ id }) => id)).toEqual([1]);
  });

  test("count their beginnings, so that a second one after a kill is known to be one", () => {
    const { store } = openDaemonDatabase();
    addRun(store, runSample());
    store.addEffects("run_1", [{ effect: { kind: "ReadView" }, notBeforeMs: 0 }], 1);
    expect([store.beginEffect(1), store.beginEffect(1)]).toEqual([0, 1]);
  });

  test("that are answered begin no more: nobody would know how often they were begun before", async () => {
    const { store } = openDaemonDatabase();
    addRun(store, runSample());
    store.addEffects("run_1", [{ effect: { kind: "ReadView" }, notBeforeMs: 0 }], 1);
    store.finishEffect(1);
    expect(() => store.beginEffect(1)).toThrow("effect 1 is begun, and it was answered or never written down");
    const asked = { kind: "effect", effectId: 1, runId: "run_1" } as const;
    await expect(store.read(asked)).rejects.toThrow("effect 1 was answered, or never written down");
  });

  test("that were overtaken are put off and stay to be done", () => {
    const { store } = openDaemonDatabase();
    addRun(store, runSample());
    store.addEffects("run_1", [{ effect: { kind: "ReadView" }, notBeforeMs: 0 }], 1);
    store.postponeEffect(1, 99.2);
    expect(store.dueEffects(99, 10, "others")).toEqual([]);
    expect(store.dueEffects(100, 10, "others")).toHaveLength(1);
  });

  test("belong to a run that exists", () => {
    const { store } = openDaemonDatabase();
    expect(() => store.addEffects("nobody", [{ effect: { kind: "ReadView" }, notBeforeMs: 0 }], 1)).toThrow("FOREIGN");
  });
});

import { expect, test } from "vitest";
import { createHealth } from "../../src/chain/endpoint-health.ts";
import { RpcError } from "../../src/chain/json-rpc.ts";

const GONE = new RpcError({ kind: "transport", host: "node", message: "node: gone" });
const SPENT = new RpcError({ kind: "transport", host: "node", message: "node: spent", status: 402 });

function health() {
  let nowMs = 0;
  const reported: string[] = [];
  const clock = { monotonicMs: () => nowMs, nowMs: () => nowMs };
  const one = createHealth("node", clock, {
    onTrouble: (reason) => reported.push(reason.message),
    onReturn: () => reported.push("back"),
  });
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { one, pass, reported };
}

test("an endpoint in trouble is looked at after ten seconds at first, and every ten minutes at most", () => {
  const { one, pass, reported } = health();
  one.failed(GONE, "eth_call");
  const checks: number[] = [];
  for (let second = 0; second < 3_000; second += 1) {
    if (one.takeCheck()) checks.push(second);
    one.failed(GONE, "eth_call");
    expect(one.rank()).toBe(2);
    pass(1_000);
  }
  expect(checks).toEqual([10, 30, 70, 150, 310, 630, 1_230, 1_830, 2_430]);
  one.answered();
  expect([one.rank(), one.takeCheck()]).toEqual([0, false]);
  one.failed(GONE, "eth_call");
  pass(10_000);
  expect(one.takeCheck(), "the pauses begin anew").toBe(true);
  expect(reported).toEqual(["node: gone", "back", "node: gone"]);
});

test("after its rest an endpoint is asked after the others until it answers, and looked at by one", () => {
  const { one, pass } = health();
  one.failed(SPENT, "eth_call");
  pass(14_999);
  expect([one.rank(), one.takeCheck()]).toEqual([3, false]);
  expect(() => one.assertRested()).toThrow("asked again in 1 s");
  pass(1);
  expect([one.rank(), one.takeCheck(), one.takeCheck()]).toEqual([2, true, false]);
  one.assertRested();
  one.failed(SPENT, "eth_call");
  expect(one.rank()).toBe(3);
  expect(() => one.assertRested()).toThrow("asked again in 30 s");
});

test("an endpoint that rests stays at rest, whatever else is said of it", () => {
  const { one, pass } = health();
  one.failed(SPENT, "eth_call");
  one.distrust(new Error("its newest block is old"));
  expect(one.rank()).toBe(3);
  pass(15_000);
  one.distrust(new Error("its newest block is old"));
  expect([one.rank(), one.takeCheck()]).toEqual([2, false]);
});

test("an answer that was under way when the rest began does not end it, one to a later question does", () => {
  const { one, pass, reported } = health();
  const before = one.rests();
  one.failed(SPENT, "eth_call");
  one.answered("eth_call", before);
  expect(one.rank()).toBe(3);
  pass(14_999);
  expect(() => one.assertRested()).toThrow("asked again in 1 s");
  one.answered("eth_call", one.rests());
  expect([one.rank(), reported]).toEqual([0, ["node: spent", "back"]]);
});

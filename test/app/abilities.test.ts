import { expect, test } from "vitest";
import { judgeAbilities, watchAbilities } from "../../src/app/abilities.ts";
import type { Ability, AbilityFinding, EndpointReport } from "../../src/ports/chain.ts";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, openLife } from "../support/engine-life.ts";
import { quiet } from "../support/fake-clock.ts";

type States = Partial<Record<Ability, AbilityFinding["state"]>>;

function endpoint(host: string, states: States = {}): EndpointReport {
  const findings = (["simulation", "finality", "overrides", "logs"] as const).map((ability) => {
    return { ability, state: states[ability] ?? "able", detail: `${host} says no` };
  });
  return { host, findings };
}

test.each<[string, EndpointReport[], number, number]>([
  ["all able", [endpoint("a")], 0, 0],
  ["the only one cannot try out", [endpoint("a", { simulation: "lacking" })], 1, 0],
  ["none can try out", [endpoint("a", { simulation: "lacking" }), endpoint("b", { simulation: "lacking" })], 1, 0],
  ["none calls a block final", [endpoint("a", { finality: "lacking" })], 1, 0],
  ["one of two cannot try out", [endpoint("a", { simulation: "lacking" }), endpoint("b")], 0, 1],
  [
    "one cannot, one is silent",
    [endpoint("a", { simulation: "lacking" }), endpoint("b", { simulation: "unknown" })],
    0,
    1,
  ],
  ["the only one is silent", [endpoint("a", { simulation: "unknown" })], 0, 0],
  ["logs and overrides are narrow", [endpoint("a", { logs: "lacking", overrides: "lacking" })], 0, 2],
])("%s", (_case, reports, problems, warnings) => {
  const verdict = judgeAbilities(reports);
  expect([verdict.problems.length, verdict.warnings.length]).toEqual([problems, warnings]);
});

test("what is lacking is said with the endpoint's host, and what to do", () => {
  const { problems } = judgeAbilities([endpoint("rpc.example", { simulation: "lacking" })]);
  expect(problems[0]).toBe(
    "the endpoint rpc.example: rpc.example says no. no transaction can be tried out, so none is signed: add an endpoint with eth_simulateV1",
  );
  const { warnings } = judgeAbilities([endpoint("a", { simulation: "lacking" }), endpoint("b")]);
  expect(warnings[0]).toBe("endpoint 1 (a) lacks simulation: a says no");
});

test("what a node lacks while it starts up is over soon after, though nobody asks for it meanwhile", async () => {
  const outside = createOutside(SLOT_MS);
  const life = openLife(outside);
  const watch = watchAbilities(life.context.deps);
  const open = () => life.db.prepare("SELECT code FROM alerts WHERE over_at_ms IS NULL").pluck().all();
  let trials = 0;
  let found: States = { finality: "lacking" };
  const abilities = async (): Promise<readonly EndpointReport[]> => {
    trials += 1;
    await watch.note([endpoint("a", found)]);
    return [];
  };
  const trying = watch.keepTrying({ abilities });
  await quiet();
  await outside.clock.advance(50_000);
  expect([open(), watch.mayTrade(), trials]).toEqual([["ENDPOINTS_UNABLE"], false, 1]);
  found = {};
  await outside.clock.advance(20_000);
  expect([open(), watch.mayTrade(), trials]).toEqual([[], true, 2]);
  await outside.clock.advance(600_000);
  expect(trials).toBe(2);
  watch.stop();
  await trying;
});

test("what stops all trading is told once and ended by itself, and a stop closes its ears", async () => {
  const life = openLife(createOutside(SLOT_MS));
  const watch = watchAbilities(life.context.deps);
  const open = () => life.db.prepare("SELECT code FROM alerts WHERE over_at_ms IS NULL").pluck().all();
  await watch.note([endpoint("a", { simulation: "lacking" })]);
  await watch.note([endpoint("a", { simulation: "lacking" })]);
  expect([open(), watch.mayTrade()]).toEqual([["ENDPOINTS_UNABLE"], false]);
  await watch.note([endpoint("a")]);
  expect([open(), watch.mayTrade()]).toEqual([[], true]);
  watch.stop();
  await watch.note([endpoint("a", { simulation: "lacking" })]);
  expect([open(), watch.mayTrade()]).toEqual([[], true]);
});

import { expect, test } from "vitest";
import { judgeAbilities, watchAbilities } from "../../src/app/abilities.ts";
import type { Ability, AbilityFinding, EndpointReport } from "../../src/ports/chain.ts";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, openLife } from "../support/engine-life.ts";
import { quiet } from "../support/fake-clock.ts";

type States = Partial<Record<Ability, AbilityFinding["state"]>>;

function endpoint(host: string, states: States = {}): EndpointReport {
  const findings = (["simulate", "trace", "probe", "finality", "overrides", "logs"] as const).map((ability) => {
    return { ability, state: states[ability] ?? "able", detail: `${host} says no` };
  });
  return { host, findings };
}

const STRICT = ["simulate", "trace"] as const;
const none: States = { simulate: "lacking", trace: "lacking" };

test.each<[string, EndpointReport[], number, number]>([
  ["all able", [endpoint("a")], 0, 0],
  ["the only one cannot simulate", [endpoint("a", none)], 1, 0],
  ["none can simulate", [endpoint("a", none), endpoint("b", none)], 1, 0],
  ["the only one traces", [endpoint("a", { simulate: "lacking" })], 0, 1],
  ["the only one simulates and does not trace", [endpoint("a", { trace: "lacking" })], 0, 0],
  ["each lacks another way", [endpoint("a", { simulate: "lacking" }), endpoint("b", { trace: "lacking" })], 0, 1],
  ["none calls a block final", [endpoint("a", { finality: "lacking" })], 1, 0],
  ["one of two cannot simulate", [endpoint("a", none), endpoint("b")], 0, 1],
  ["one cannot, one is silent", [endpoint("a", none), endpoint("b", { simulate: "unknown", trace: "unknown" })], 0, 1],
  ["the only one is silent", [endpoint("a", { simulate: "unknown", trace: "unknown" })], 0, 0],
  ["the only one is silent about its last way", [endpoint("a", { simulate: "lacking", trace: "unknown" })], 0, 1],
  ["what the policy does not permit is lacking", [endpoint("a", { probe: "lacking" })], 0, 0],
  ["logs and overrides are narrow", [endpoint("a", { logs: "lacking", overrides: "lacking" })], 0, 2],
])("%s", (_case, reports, problems, warnings) => {
  const verdict = judgeAbilities(reports, STRICT);
  expect([verdict.problems.length, verdict.warnings.length]).toEqual([problems, warnings]);
});

test("a way that the policy does not permit helps nobody, and is offered where an endpoint masters it", () => {
  const unable = { ...none, probe: "lacking" } as const;
  expect(judgeAbilities([endpoint("rpc.example", unable)], STRICT).problems).toEqual([
    "the endpoint rpc.example: rpc.example says no. no transaction can be simulated as the policy permits, so none is signed: add an endpoint with eth_simulateV1 or debug_traceCall",
  ]);
  expect(judgeAbilities([endpoint("rpc.example", none)], STRICT).problems).toEqual([
    "the endpoint rpc.example: rpc.example says no. no transaction can be simulated as the policy permits, so none is signed: add an endpoint with eth_simulateV1 or debug_traceCall, or let the owner add probe to `simulation` in the policy, which this one can do (docs/SECURITY.md says what it does not see)",
  ]);
  expect(judgeAbilities([endpoint("a", { simulate: "lacking" })], ["simulate"]).problems[0]).toMatch(
    /add trace to `simulation` in the policy, which this one can do$/,
  );
  expect(judgeAbilities([endpoint("a", none)], ["simulate", "trace", "probe"])).toEqual({
    ...{ problems: [], ways: ["probe"] },
    warnings: [
      "the endpoint a lacks eth_simulateV1 or debug_traceCall, and simulates by a probe in eth_call: a says no",
    ],
  });
});

test("what is lacking at one of several endpoints is said with its host", () => {
  const { warnings, ways } = judgeAbilities([endpoint("a", { simulate: "lacking" }), endpoint("b")], STRICT);
  expect(warnings[0]).toBe("endpoint 1 (a) lacks eth_simulateV1, and simulates by debug_traceCall: a says no");
  expect(ways).toEqual(["simulate", "trace"]);
});

test("what a node lacks while it starts up is over soon after, though nobody asks for it meanwhile", async () => {
  const outside = createOutside(SLOT_MS);
  const life = openLife(outside);
  const watch = watchAbilities(life.context.deps, STRICT);
  const open = () => life.db.prepare("SELECT code FROM alerts WHERE over_at_ms IS NULL").pluck().all();
  let simulations = 0;
  let found: States = { finality: "lacking" };
  const abilities = async (): Promise<readonly EndpointReport[]> => {
    simulations += 1;
    await watch.note([endpoint("a", found)]);
    return [];
  };
  const trying = watch.keepTrying({ abilities });
  await quiet();
  await outside.clock.advance(50_000);
  expect([open(), watch.whyUnable() === undefined, simulations]).toEqual([["ENDPOINTS_UNABLE"], false, 1]);
  found = {};
  await outside.clock.advance(20_000);
  expect([open(), watch.whyUnable() === undefined, simulations]).toEqual([[], true, 2]);
  await outside.clock.advance(600_000);
  expect(simulations).toBe(2);
  watch.stop();
  await trying;
});

test("what stops all trading is reported once and ended by itself, and a stop closes its ears", async () => {
  const life = openLife(createOutside(SLOT_MS));
  const watch = watchAbilities(life.context.deps, STRICT);
  const open = () => life.db.prepare("SELECT code FROM alerts WHERE over_at_ms IS NULL").pluck().all();
  await watch.note([endpoint("a", none)]);
  await watch.note([endpoint("a", none)]);
  expect([open(), watch.whyUnable() === undefined]).toEqual([["ENDPOINTS_UNABLE"], false]);
  await watch.note([endpoint("a")]);
  expect([open(), watch.whyUnable() === undefined]).toEqual([[], true]);
  watch.stop();
  await watch.note([endpoint("a", none)]);
  expect([open(), watch.whyUnable() === undefined]).toEqual([[], true]);
});

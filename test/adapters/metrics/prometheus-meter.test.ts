import { expect, it } from "vitest";
import { createPrometheusMeter } from "../../../src/adapters/metrics/prometheus-meter.ts";

const USD = 10n ** 18n;
const FILL = { strategy: "weekly", sell: "USDC", buy: "WETH", mode: "self-executed" } as const;
const UNKNOWN = {
  ...{ soldUsd: undefined, feeUsd: undefined, gasUsd: undefined },
  ...{ againstQuotePpm: undefined, againstReferencePpm: undefined },
};

/** The value behind a name with its labels. */
async function shown(registry: { metrics(): Promise<string> }, name: string): Promise<string | undefined> {
  const lines = (await registry.metrics()).split("\n");
  return lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
}

it("counts a slot as late from ten seconds on, and what was passed over by its reason", async () => {
  const { meter, registry } = createPrometheusMeter();
  meter.slot({ strategy: "weekly", kind: "begun", delayMs: 10_000 });
  meter.slot({ strategy: "weekly", kind: "begun", delayMs: 10_001 });
  meter.slot({ strategy: "weekly", kind: "passed", count: 3, reason: "missed" });
  expect(await shown(registry, 'swapd_slots_begun_total{strategy="weekly",timing="on_time"}')).toBe("1");
  expect(await shown(registry, 'swapd_slots_begun_total{strategy="weekly",timing="late"}')).toBe("1");
  expect(await shown(registry, 'swapd_slots_passed_total{strategy="weekly",reason="missed"}')).toBe("3");
  expect(await shown(registry, "swapd_slot_delay_seconds_count")).toBe("2");
});

it("counts thousands of strategies together, from zero on, and up to two thousand each by its name", async () => {
  const names = Array.from({ length: 2_001 }, (_, index) => `s${index}`);
  const { meter, registry } = createPrometheusMeter(names);
  expect(await shown(registry, 'swapd_runs_ended_total{strategy="all",state="filled"}')).toBe("0");
  for (const strategy of ["s1", "s2", "new"]) {
    meter.slot({ strategy, kind: "begun", delayMs: 1 });
    meter.runEnded({ strategy, state: "filled", reason: undefined });
    meter.filled({ ...FILL, ...UNKNOWN, strategy });
  }
  expect(await shown(registry, 'swapd_slots_begun_total{strategy="all",timing="on_time"}')).toBe("3");
  expect(await shown(registry, 'swapd_runs_ended_total{strategy="all",state="filled"}')).toBe("3");
  const text = await registry.metrics();
  expect(text.match(/strategy="[^"]*"/g)?.filter((label) => label !== 'strategy="all"')).toEqual([]);
  const { registry: few } = createPrometheusMeter(names.slice(1));
  expect((await few.metrics()).match(/^swapd_slots_passed_total\{/gm)).toHaveLength(2_000);
});

it("gives fills in dollars and basis points", async () => {
  const { meter, registry } = createPrometheusMeter();
  meter.filled({
    ...FILL,
    ...{ soldUsd: 100n * USD, feeUsd: USD / 2n, gasUsd: USD / 10n },
    ...{ againstQuotePpm: 1_000n, againstReferencePpm: -2_500n },
  });
  const by = 'strategy="weekly"';
  expect(await shown(registry, `swapd_fill_value_dollars_sum{${by}}`)).toBe("100");
  expect(await shown(registry, `swapd_service_fees_dollars_total{${by}}`)).toBe("0.5");
  expect(await shown(registry, `swapd_gas_dollars_total{${by}}`)).toBe("0.1");
  // Never negative: Prometheus would take a sum that falls for a process that began anew.
  expect(await shown(registry, `swapd_fill_shortfall_basis_points_sum{${by},against="quote"}`)).toBe("0");
  expect(await shown(registry, `swapd_fill_surplus_basis_points_total{${by},against="quote"}`)).toBe("10");
  expect(await shown(registry, `swapd_fill_shortfall_basis_points_sum{${by},against="reference"}`)).toBe("25");
  expect(await shown(registry, `swapd_fill_surplus_basis_points_total{${by},against="reference"}`)).toBe("0");
});

it("leaves out what is not known of a fill: no price is no dollar, and no zero", async () => {
  const { meter, registry } = createPrometheusMeter();
  meter.filled({ ...FILL, ...UNKNOWN });
  const text = await registry.metrics();
  expect(text).toContain('swapd_fills_total{strategy="weekly",sell="USDC",buy="WETH",mode="self-executed"} 1');
  expect(text).not.toContain('_dollars_count{strategy="weekly"}');
  expect(text).not.toContain('swapd_gas_dollars_total{strategy="weekly"}');
});

it("escapes whatever a token is called: a line stays a line", async () => {
  const { meter, registry } = createPrometheusMeter();
  meter.filled({ ...FILL, ...UNKNOWN, buy: 'X"} 1\nswapd_live 1\n' });
  const lines = (await registry.metrics()).split("\n");
  expect(lines).not.toContain("swapd_live 1");
});

import { expect, test } from "vitest";
import { createReadModel } from "../../../src/adapters/sqlite/daemon/read-model.ts";
import type { HealthReader } from "../../../src/app/http/health.ts";
import { formatUnits } from "../../../src/domain/money/amount.ts";
import { ETH, policySample, ROUTER, SLOT_MS, USDC } from "../../support/builders.ts";
import { createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../../support/engine-life.ts";
import { metricsSample } from "../../support/metrics-sample.ts";

const part = { ready: true, reason: null, since: null };
const operating = { global: "active", strategies: {} };
const health: HealthReader = {
  health: async () => ({ healthy: true, mode: "live", operating, tickAgeMs: 7, problems: [] }),
  readiness: async () => {
    const parts = {
      node: part,
      service: part,
      clock: { ...part, skewMs: 5 },
      database: part,
      signer: { ...part, away: ["main"] },
    };
    return { ready: true, mode: "live", operating, ...parts };
  },
};

async function linesOf(outside: Outside, life: Life, count = 1): Promise<readonly string[]> {
  const reader = metricsSample({
    reads: createReadModel(life.db),
    health,
    spec: outside.spec,
    count,
    nowMs: () => outside.clock.nowMs(),
  });
  return (await reader.read()).split("\n");
}

const numberOf = (lines: readonly string[], name: string): number =>
  Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length));

test("caps, budgets, balances and the last fill stand there in people's units", async () => {
  const outside = createOutside(SLOT_MS - 1_500, { budget: { total: 1_000_000_000n } });
  const life = openLife(outside);
  await life.engine.start();
  await turn(outside, life, 20);
  await life.engine.stop();
  const lines = await linesOf(outside, life);
  for (const line of [
    'swapd_swaps{state="final"} 1',
    'swapd_runs{strategy="weekly",state="filled"} 1',
    'swapd_cap_used_dollars{window="day"} 100',
    'swapd_budget_used{strategy="weekly",period="total",token="USDC"} 100',
    'swapd_budget_limit{strategy="weekly",period="total",token="USDC"} 1000',
    'swapd_configured_mode{mode="live"} 1',
    'swapd_configured_mode{mode="paper"} 0',
    'swapd_signer_ready{wallet="main"} 0',
    "swapd_oldest_unknown_swap_age_seconds 0",
  ]) {
    expect(lines).toContain(line);
  }
  const lastFill = numberOf(lines, "swapd_last_fill_timestamp_seconds");
  expect(Math.abs(lastFill - outside.clock.nowMs() / 1_000)).toBeLessThan(60);
});

test("thousands of strategies have lines together, with the sums of theirs", async () => {
  const outside = createOutside(SLOT_MS - 1_500, { budget: { total: 1_000_000_000n } });
  const life = openLife(outside);
  await life.engine.start();
  await turn(outside, life, 20);
  await life.engine.stop();
  const lines = await linesOf(outside, life, 2_001);
  expect(lines).toContain('swapd_runs{strategy="all",state="filled"} 1');
  expect(lines).toContain('swapd_budget_used{strategy="all",period="total",token="USDC"} 100');
  expect(lines).toContain('swapd_budget_limit{strategy="all",period="total",token="USDC"} 2001000');
  expect(lines.filter((line) => line.includes("strategy=") && !line.includes('strategy="all"'))).toEqual([]);
  expect((await linesOf(outside, life, 2_000)).filter((line) => line.startsWith("swapd_budget_limit"))).toHaveLength(
    2_000,
  );
});

test("a swap whose answer was lost is as old as it has been unknown, and an alert is counted by its code", async () => {
  const outside = createOutside(SLOT_MS - 1_500, { gasless: "only" });
  outside.service.delivery = "lost";
  const life = openLife(outside);
  await life.engine.start();
  const isUnknown = (): boolean => life.db.prepare("SELECT state FROM swaps").pluck().get() === "unknown";
  expect(await turnUntil(outside, life, { maxSeconds: 60, isDone: isUnknown })).toBe(true);
  await turn(outside, life, 10);
  await life.engine.stop();
  const lines = await linesOf(outside, life);
  const age = numberOf(lines, "swapd_oldest_unknown_swap_age_seconds");
  expect(age).toBeGreaterThanOrEqual(9);
  expect(age).toBeLessThan(30);
  expect(lines.some((line) => /^swapd_alerts\{severity="[a-z]+",code="[A-Z_]+"\} 1$/.test(line))).toBe(true);
});

test("gas is what lies above the reserve, and an allowance without a bound is infinite", async () => {
  const outside = createOutside(SLOT_MS);
  const life = openLife(outside);
  const sample = { wallet: "main", readAtMs: outside.clock.nowMs() - 5_000, spender: undefined } as const;
  const samples = [
    { ...sample, token: "ETH", amount: 2, dollars: 2_000 },
    { ...sample, token: "USDC", amount: 12.5, dollars: undefined },
    { ...sample, token: "USDC", spender: ROUTER, amount: Infinity, dollars: Infinity },
  ];
  const nowMs = () => outside.clock.nowMs();
  const reader = metricsSample({ reads: createReadModel(life.db), health, spec: outside.spec, nowMs, samples });
  const lines = (await reader.read()).split("\n");
  const reserve = Number(formatUnits(policySample({}).gasReserve, 18));
  for (const line of [
    `swapd_wallet_gas_left{wallet="main"} ${2 - reserve}`,
    'swapd_wallet_balance{wallet="main",token="USDC"} 12.5',
    'swapd_wallet_balance_dollars{wallet="main",token="ETH"} 2000',
    `swapd_allowance_dollars{wallet="main",token="USDC",spender="${ROUTER}"} +Inf`,
    "swapd_oldest_balance_age_seconds 5",
  ]) {
    expect(lines).toContain(line);
  }
  expect(lines.some((line) => line.startsWith('swapd_wallet_balance_dollars{wallet="main",token="USDC"}'))).toBe(false);
});

test.each([
  ["that lists its coin on paper", "paper", { paper: new Map([[ETH.address, 1n]]) }, true],
  ["that is lent coins on paper", "paper", { paper: new Map([[USDC.address, 1n]]) }, false],
  ["that is lent coins in a dry run", "dry-run", { paper: new Map([[USDC.address, 1n]]) }, false],
  ["that is a Safe, whose owners execute", "live", { proposals: {} }, false],
])("a wallet %s: whether it lacks gas is a figure only where it pays for some", async (_, mode, wallet, pays) => {
  const outside = createOutside(SLOT_MS);
  const life = openLife(outside);
  const nowMs = () => outside.clock.nowMs();
  const samples = [{ wallet: "main", token: "ETH", spender: undefined, amount: 0, dollars: 0, readAtMs: nowMs() }];
  const from = { reads: createReadModel(life.db), health, spec: outside.spec, nowMs, samples };
  const lines = (await metricsSample({ ...from, mode, wallet }).read()).split("\n");
  expect(lines).toContain('swapd_wallet_balance{wallet="main",token="ETH"} 0');
  expect(lines.some((line) => line.startsWith("swapd_wallet_gas_left{"))).toBe(pays);
});

import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/adapters/sqlite/daemon/open-store.ts";
import { copyRecent } from "../../src/adapters/sqlite/daemon/recent-copy.ts";
import { type DryRunVerdict, describeDryRun } from "../../src/app/describe-dry-run.ts";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { worstCase } from "../../src/domain/forecast/worst-case.ts";
import { oneContract } from "../../src/domain/guard/swap-contracts.ts";
import { NATIVE_TOKEN, toAddress } from "../../src/domain/money/address.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { type DryRun, dryRunSlot } from "../../src/engine/dry-run.ts";
import type { EngineSettings } from "../../src/engine/engine-context.ts";
import { readForecastStart } from "../../src/engine/forecast-world.ts";
import { quoteForecast } from "../../src/engine/quote-forecast.ts";
import { registerStrategies } from "../../src/engine/register-strategies.ts";
import { insertDueRuns } from "../../src/engine/scheduler.ts";
import type { Question } from "../../src/ports/questions.ts";
import { openDatabase } from "../../src/storage/database.ts";
import {
  HUNDRED_USDC,
  policySample,
  ROUTER,
  rebalanceSpec,
  runSample,
  SLOT_MS,
  USDC,
  usd,
  WBTC,
  WETH,
} from "../support/builders.ts";
import { addRun } from "../support/daemon-database.ts";
import { ACCOUNT, createOutside, type Life, openLife, turn } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";
import { swapIn } from "../support/reading-samples.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const MINUTE_MS = 60_000;

async function begin(change: Partial<StrategySpec> = {}, settings: Partial<EngineSettings> = {}) {
  const outside = createOutside(SLOT_MS - 10_000, change);
  const life = openLife(outside, { settings });
  await registerStrategies(life.context);
  const [strategy] = life.context.settings.strategies;
  if (strategy === undefined) throw new Error("no strategy is loaded");
  return { outside, life, strategy };
}

function described(dryRun: DryRun | undefined): DryRunVerdict {
  if (dryRun === undefined) throw new Error("the schedule has no further slot");
  return describeDryRun(dryRun);
}

/** Everything that the database holds, as text. */
function contentOf({ db }: Life): string {
  const tables = db.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
  return JSON.stringify(tables.map((table) => [table, db.prepare(`SELECT * FROM "${table}"`).all()]));
}

describe("a dry run", () => {
  test("goes through the daemon's own checks up to the signature, and writes, signs and sends nothing", async () => {
    const { outside, life, strategy } = await begin();
    const before = contentOf(life);
    const dryRun = await dryRunSlot(life.context, strategy);
    expect(dryRun).toMatchObject({ waits: false, run: { state: "skipped", reason: "dry_run", slotMs: SLOT_MS } });
    const [swap] = dryRun?.run.swaps ?? [];
    expect(swap).toMatchObject({ gross: HUNDRED_USDC, reason: "dry_run", mode: "self-executed" });
    const checks = dryRun?.checks.get(swap?.id ?? "") ?? [];
    expect(checks.length).toBeGreaterThan(15);
    expect(checks.every((check) => check.ok)).toBe(true);
    expect(contentOf(life)).toBe(before);
    expect(outside.signed).toEqual([]);
    expect(outside.chain.sent).toEqual([]);
    expect(outside.service.submissions).toEqual([]);
  });

  test.each(["paused", "halted", "exits-only"] as const)(
    "says that a strategy that is %s starts no run",
    async (mode) => {
      const { life, strategy } = await begin();
      life.store.setMode({ scope: "weekly", mode, setBy: "ops", reason: "holidays", atMs: SLOT_MS - 5_000 });
      const dryRun = await dryRunSlot(life.context, strategy);
      const detail = `weekly is ${mode}, set by ops: holidays`;
      expect(described(dryRun)).toEqual({ verdict: "starts no run", reason: mode, detail });
    },
  );

  test("is of the first slot that is not used up", async () => {
    const { life, strategy } = await begin({ schedule: { kind: "every", seconds: 60 } } as Partial<StrategySpec>);
    const first = (await dryRunSlot(life.context, strategy))?.run.slotMs ?? 0;
    life.db.prepare("UPDATE strategies SET last_slot_ms = ?").run(first);
    expect((await dryRunSlot(life.context, strategy))?.run.slotMs).toBe(first + MINUTE_MS);
  });

  test("shows the check that would deny the swap", async () => {
    const policy = policySample({ recipients: [ACCOUNT], maxTradeUsd: usd("99") });
    const { life, strategy } = await begin({}, { policy });
    const dryRun = await dryRunSlot(life.context, strategy);
    expect(dryRun?.run).toMatchObject({ state: "failed", reason: "RUN_CAP_EXCEEDED" });
    const failed = [...(dryRun?.checks.values() ?? [])].flat().filter((check) => !check.ok);
    expect(failed.map((check) => check.code)).toEqual(["RUN_CAP_EXCEEDED"]);
  });

  test("says what a strategy without a trade waits for, and leaves its memory alone", async () => {
    const { life, strategy } = await begin({ startMs: SLOT_MS + 10 * MINUTE_MS } as Partial<StrategySpec>);
    const before = contentOf(life);
    const dryRun = await dryRunSlot(life.context, strategy);
    expect(dryRun?.run).toMatchObject({ state: "skipped", reason: "not_started", swaps: [] });
    expect(contentOf(life)).toBe(before);
  });

  test("ends where the daemon would ask again in a while", async () => {
    const { outside, life, strategy } = await begin();
    outside.service.refuses = refusal("NO_ANSWER", true);
    const dryRun = await dryRunSlot(life.context, strategy);
    expect(dryRun).toMatchObject({
      waits: true,
      waitsFor: { reason: "quote_unavailable", detail: expect.stringContaining("NO_ANSWER") },
      run: { state: "executing" },
    });
  });

  test("says what it would wait for: a price, with its number, or a node", async () => {
    const onlyIf = { of: WETH, comparison: "<=", price: { quote: USDC, raw: 1_000_000n } };
    const dear = await begin({ onlyIf, retryForSeconds: 600 } as Partial<StrategySpec>);
    expect(described(await dryRunSlot(dear.life.context, dear.strategy))).toEqual({
      verdict: "would ask again in a while",
      reason: "price_gate",
      detail: "WETH stands at 1000 USDC, it must be <= 1 USDC",
    });
    const { life, strategy } = await begin();
    const balance = async () => await Promise.reject(new ChainReadError("unreachable", "no endpoint answers"));
    Object.assign(life.context.deps.chain, { balance });
    expect(described(await dryRunSlot(life.context, strategy))).toEqual({
      verdict: "would ask again in a while",
      reason: "view_unavailable",
      detail: "no endpoint answers",
    });
  });
});

describe("a forecast of the daemon's next slots", () => {
  test("says the instants, amounts and ends that the daemon then has", async () => {
    const budget = { total: (HUNDRED_USDC * 5n) / 2n };
    const { outside, life } = await begin({ budget } as Partial<StrategySpec>);
    const { world, unpriced } = await readForecastStart(life.context.deps, life.context.settings, 4);
    const slots = await quoteForecast(life.context, world);
    expect(unpriced).toEqual([]);
    expect(slots.map(({ slotMs, swaps }) => [slotMs, swaps.map(({ amount }) => amount)])).toEqual([
      [SLOT_MS, [HUNDRED_USDC]],
      [SLOT_MS + MINUTE_MS, [HUNDRED_USDC]],
      [SLOT_MS + 2 * MINUTE_MS, [HUNDRED_USDC / 2n]],
      [SLOT_MS + 3 * MINUTE_MS, []],
    ]);
    await life.engine.start();
    await turn(outside, life, 210);
    const sold = life.db.prepare<[], string>("SELECT sold FROM swaps WHERE sold IS NOT NULL ORDER BY id").pluck().all();
    expect(sold.map(BigInt).sort()).toEqual([HUNDRED_USDC, HUNDRED_USDC, HUNDRED_USDC / 2n].sort());
  });

  test.each([
    ["the first slot of a strategy that starts now", { startsNow: true }, SLOT_MS - 10_000],
    ["a missed slot that is caught up", {}, SLOT_MS + 30 * MINUTE_MS],
  ] as const)("begins with %s, which a start trades at once", async (_, change, nowMs) => {
    const seconds = 35 * 86_400;
    const schedule = { kind: "every", seconds, anchorSeconds: SLOT_MS / 1_000 };
    const { outside, life } = await begin({ ...change, schedule } as Partial<StrategySpec>);
    outside.clock.jumpTo(nowMs);
    outside.chain.mine();
    await insertDueRuns(life.context);
    const { world } = await readForecastStart(life.context.deps, life.context.settings, 2);
    const slots = await quoteForecast(life.context, world);
    const firstMs = Math.min(nowMs, SLOT_MS);
    const amounts = slots.map(({ slotMs, isAtOnce, swaps }) => [slotMs, isAtOnce, swaps[0]?.amount]);
    expect(amounts[0]).toEqual([firstMs, true, HUNDRED_USDC]);
    expect(amounts[1]).toMatchObject([expect.any(Number), false, HUNDRED_USDC]);
    expect(worstCase(world).perDayUsd).toBeGreaterThanOrEqual(usd("100"));
    await life.engine.start();
    await turn(outside, life, 8);
    const sold = life.db.prepare("SELECT slot_ms, sold FROM swaps JOIN runs ON runs.id = swaps.run_id").raw().all();
    expect(sold).toEqual([[firstMs, HUNDRED_USDC.toString()]]);
  });

  test("denies nothing for what was sold by now at a slot for which that counts no more", async () => {
    const schedule = { kind: "every", seconds: 2 * 86_400, anchorSeconds: SLOT_MS / 1_000 };
    const limits = [{ period: "day", most: HUNDRED_USDC }];
    const policy = policySample({ recipients: [ACCOUNT], maxPerDayUsd: usd("150"), maxPerMonthUsd: usd("350") });
    const budget = { calendar: { timezone: "UTC", limits } };
    const { outside, life } = await begin({ schedule, budget } as Partial<StrategySpec>, { policy });
    await life.engine.start();
    await turn(outside, life, 60);
    expect(life.db.prepare("SELECT sum(sold) FROM swaps").pluck().get()).toBe(Number(HUNDRED_USDC));
    const { world } = await readForecastStart(life.context.deps, life.context.settings, 3);
    const slots = await quoteForecast(life.context, world);
    expect(slots.map(({ reason }) => reason)).toEqual([undefined, undefined, "MONTHLY_CAP_EXCEEDED"]);
  });

  test.each([
    ["by the day for those of a month", 7 * 24, { maxPerMonthUsd: usd("550") }],
    ["by the hour for that of 24 hours", 6, { maxPerDayUsd: usd("550") }],
  ])("counts what was sold %s, as long as the daemon counts it", async (_, hours, ceilings) => {
    const everyMs = hours * 60 * MINUTE_MS;
    const schedule = { kind: "every", seconds: everyMs / 1_000, anchorSeconds: SLOT_MS / 1_000 };
    const policy = policySample({ recipients: [ACCOUNT], ...ceilings });
    const { life } = await begin({ schedule } as Partial<StrategySpec>, { policy });
    const { store, ...deps } = life.context.deps;
    const soldSince = (sinceMs: number): bigint =>
      [1, 2, 3, 4].reduce((sum, ago) => (SLOT_MS - ago * everyMs >= sinceMs ? sum + usd("100") : sum), 0n);
    const read: typeof store.read = async (question) => {
      if (question.kind !== "sold-usd") return await store.read(question);
      const { daySinceMs, monthSinceMs } = question as unknown as Question<"sold-usd">;
      return { day: soldSince(daySinceMs), month: soldSince(monthSinceMs) } as never;
    };
    const { world } = await readForecastStart({ ...deps, store: { read } }, life.context.settings, 6);
    const slots = await quoteForecast(life.context, world);
    expect(slots.map(({ reason }) => reason)).toEqual(Array.from({ length: 6 }, () => undefined));
  });

  test("says of slots that are caught up behind an open run that they wait for it", async () => {
    const catchUp = { policy: "all", windowSeconds: 3_600, maxRuns: 5, maxMultiple: 5 } as const;
    const { outside, life } = await begin({ catchUp } as Partial<StrategySpec>);
    outside.clock.jumpTo(SLOT_MS + 90_000);
    outside.chain.mine();
    const { store, ...deps } = life.context.deps;
    const read: typeof store.read = async (question) => {
      const rows = await store.read(question);
      return question.kind === "slots" ? Object.assign({}, rows, { busy: new Set(["weekly"]) }) : rows;
    };
    const { world } = await readForecastStart({ ...deps, store: { read } }, life.context.settings, 2);
    const slots = await quoteForecast(life.context, world);
    expect(slots).toMatchObject([
      { slotMs: SLOT_MS, isAtOnce: false, isAfterOpenRun: true },
      { slotMs: SLOT_MS + MINUTE_MS, isAtOnce: false, isAfterOpenRun: true },
    ]);
    expect(worstCase(world).perDayUsd).toBeGreaterThanOrEqual(usd("100"));
  });

  test("counts a sale as late as it was, on a copy of the database too", async () => {
    const seconds = 86_400;
    const schedule = { kind: "every", seconds, anchorSeconds: SLOT_MS / 1_000 };
    const policy = policySample({ recipients: [ACCOUNT], maxPerDayUsd: usd("150") });
    const { outside, life } = await begin({ schedule } as Partial<StrategySpec>, { policy });
    await life.engine.start();
    await turn(outside, life, 60);
    expect(life.db.prepare("SELECT max(settled_at_ms) FROM ledger").pluck().get()).toBeGreaterThan(SLOT_MS);
    // It is sold at 22:14 and planned at 23:05.
    await turn(outside, life, 51 * 60);
    const copy = openDatabase({ file: join(temporaryDirectory(), "copy.db") });
    onTestFinished(() => void copy.close());
    copyRecent(life.db, copy, outside.clock.nowMs());
    for (const store of [life.context.deps.store, openStore(copy)]) {
      const { world } = await readForecastStart({ ...life.context.deps, store }, life.context.settings, 2);
      const slots = await quoteForecast(life.context, world);
      expect(slots.map((one) => [one.slotMs, one.reason])).toEqual([
        [SLOT_MS + seconds * 1_000, "DAILY_CAP_EXCEEDED"],
        [SLOT_MS + 2 * seconds * 1_000, undefined],
      ]);
    }
  });

  describe("of a mix that pays for its purchases with its own sales", () => {
    const owner = { wallet: { name: "main", address: ACCOUNT }, recipient: ACCOUNT };
    const mix = { ...rebalanceSpec({ id: "weekly" }), ...owner, schedule: { kind: "every", seconds: 60 } } as const;

    async function beginPoor() {
      const world = await begin(mix);
      const { chain } = world.outside;
      chain.ledger.credit(USDC.address, ACCOUNT, HUNDRED_USDC - chain.ledger.balance(USDC.address, ACCOUNT));
      return world;
    }

    async function planned({ life }: Awaited<ReturnType<typeof beginPoor>>, slots: number) {
      const { world } = await readForecastStart(life.context.deps, life.context.settings, slots);
      return await quoteForecast(life.context, world);
    }

    test("says the amounts that the daemon then trades, and goes on with later slots", async () => {
      const world = await beginPoor();
      const slots = await planned(world, 2);
      expect(slots.map(({ decision, reason }) => [decision, reason])).toEqual([
        ["swap", undefined],
        ["skip", "within_bands"],
      ]);
      const swaps = slots[0]?.swaps ?? [];
      expect(swaps.map(({ sell, buy }) => [sell.symbol, buy.symbol])).toEqual([
        ["WETH", "USDC"],
        ["USDC", "WBTC"],
      ]);
      expect(swaps[1]?.amount).toBeGreaterThan(HUNDRED_USDC);
      expect(swaps.map(({ untried }) => untried)).toEqual([undefined, undefined]);
      await world.life.engine.start();
      await turn(world.outside, world.life, 55);
      const sold = world.life.db.prepare<[], string>("SELECT sold FROM swaps ORDER BY id").pluck().all();
      // What the sale brings is rounded as the quote is, or as the reference price.
      const apart = sold.map((amount, index) => Math.abs(Number(BigInt(amount) - (swaps[index]?.amount ?? 0n))));
      expect([apart.length, Math.max(...apart) <= 1]).toEqual([2, true]);
    });

    test("says of a swap that a node failed it, and the rest of the forecast", async () => {
      const world = await beginPoor();
      const { deps, settings } = world.life.context;
      const start = await readForecastStart(deps, settings, 1);
      const { balance } = deps.chain;
      let isAway = true;
      Object.assign(deps.chain, {
        balance: async (...of: Parameters<typeof balance>) => {
          // The first swap reads what is there; the second one what the first would bring.
          if (isAway && new Error("stack").stack?.includes("chainAfter") === true) {
            isAway = false;
            throw new ChainReadError("unreachable", "no endpoint answers");
          }
          return await balance.apply(deps.chain, of);
        },
      });
      const [slot] = await quoteForecast(world.life.context, start.world);
      expect(slot).toMatchObject({ decision: "swap", reason: "node_unavailable", detail: "no endpoint answers" });
      expect(slot?.swaps).toMatchObject([{ problem: undefined }, { problem: { code: "node_unavailable" } }]);
    });

    test("says what could not be tried out, where a node cannot assume what the sales bring", async () => {
      const world = await beginPoor();
      const { chain } = world.outside;
      const simulate = chain.simulate.bind(chain);
      chain.simulate = async (calls, about) =>
        about?.assumed === undefined
          ? await simulate(calls, about)
          : { kind: "unavailable", reason: "no RPC endpoint shows it with other balances" };
      const [slot] = await planned(world, 1);
      expect(slot).toMatchObject({ decision: "swap", reason: undefined });
      const untried = expect.stringContaining("no RPC endpoint shows it with other balances");
      expect(slot?.swaps).toMatchObject([{ untried: undefined }, { problem: undefined, untried }]);
      expect(slot?.swaps[1]?.bought).toBeGreaterThan(0n);
    });
  });

  test("starts from what was spent, and from modes that hold strategies back", async () => {
    const { life } = await begin();
    life.store.setMode({ scope: "weekly", mode: "paused", setBy: "ops", reason: "a test", atMs: 1 });
    const { world } = await readForecastStart(life.context.deps, life.context.settings, 2);
    const slots = await quoteForecast(life.context, world);
    expect(slots.map(({ decision, reason }) => [decision, reason])).toEqual([
      ["barred", "paused"],
      ["barred", "paused"],
    ]);
  });

  test("VAL-4 knows what a person accepted as sold", async () => {
    const { life } = await begin();
    const id = life.context.settings.strategies[0]?.spec.id;
    life.db
      .prepare(
        `INSERT INTO differences (id, wallet, kind, scope, key, text, facts, found_at_ms, settled_by, settled_at_ms)
         VALUES (7, ?, 'fill', 'wallet', 'k', 't', '{}', 1, 'ops', ?)`,
      )
      .run(ACCOUNT, SLOT_MS);
    const accept = "INSERT INTO accepted_sales (difference_id, strategy, token, amount) VALUES (7, ?, ?, '7')";
    life.db.prepare(accept).run(id, USDC.address);
    const accepted = new Map([[USDC.address, 7n]]);
    const { world } = await readForecastStart(life.context.deps, life.context.settings, 1);
    expect(world.strategies).toMatchObject([{ accepted }]);
  });

  test("counts no coins that the wallet is lent for gas on paper", async () => {
    const coin = { symbol: "ETH", address: NATIVE_TOKEN, decimals: 18 };
    const { outside, life } = await begin({ buy: coin } as Partial<StrategySpec>);
    const has = await outside.chain.balance(NATIVE_TOKEN, ACCOUNT);
    const lent = has - 5n;
    expect(lent).toBeGreaterThan(0n);
    const settings = { ...life.context.settings, lentGas: new Map([[ACCOUNT, lent]]) };
    const { world } = await readForecastStart(life.context.deps, settings, 1);
    expect(world.wallets.get(ACCOUNT)?.balances.get(NATIVE_TOKEN)).toBe(5n);
  });

  test("leaves out and names a strategy of which a token refuses to tell a balance, and goes on with the others", async () => {
    const { strategy } = await begin();
    const odd = { ...strategy.spec, id: "odd", sell: { token: WBTC, raw: 1n } } as StrategySpec;
    const { outside, life } = await begin({}, { strategies: [strategy, { ...strategy, spec: odd }] });
    const { chain, ...deps } = life.context.deps;
    const balance: typeof chain.balance = async (token, holder) => {
      if (token === WBTC.address) throw new ChainReadError("reverted", `${token} refuses balanceOf: the call reverts`);
      return await outside.chain.balance(token, holder);
    };
    const start = await readForecastStart({ ...deps, chain: { balance } }, life.context.settings, 1);
    expect(start.world.strategies.map(({ spec }) => spec.id)).toEqual([strategy.spec.id]);
    const [slot] = await quoteForecast(life.context, start.world);
    expect(slot?.swaps).toHaveLength(1);
    const detail = `${WBTC.address} refuses balanceOf: the call reverts`;
    expect(start.unread).toEqual([{ strategyId: "odd", detail }]);
    const away = async () => await Promise.reject(new ChainReadError("unreachable", "no node"));
    await expect(readForecastStart({ ...deps, chain: { balance: away } }, life.context.settings, 1)).rejects.toThrow();
  });

  test("passes on what the service refuses", async () => {
    const { outside, life } = await begin();
    const { world } = await readForecastStart(life.context.deps, life.context.settings, 1);
    outside.service.refuses = refusal("NO_ROUTE", false);
    const [slot] = await quoteForecast(life.context, world);
    expect(slot?.swaps[0]).toMatchObject({
      bought: 0n,
      problem: { code: "quote_refused", detail: expect.stringContaining("NO_ROUTE") },
    });
  });

  test("says which of several routers its quotes name, and may take what is sold", async () => {
    const first = toAddress(`0x${"7".repeat(40)}`);
    const several = { contracts: oneContract(first), furtherContracts: [oneContract(ROUTER)] };
    const { life } = await begin(
      {},
      { ...several, policy: policySample({ recipients: [ACCOUNT], spenders: [first, ROUTER] }) },
    );
    const { world } = await readForecastStart(life.context.deps, life.context.settings, 1);
    const [slot] = await quoteForecast(life.context, world);
    expect(slot?.swaps).toMatchObject([{ problem: undefined, spender: ROUTER }]);
  });

  test("says what a swap would wait for now", async () => {
    const { life } = await begin();
    const { world } = await readForecastStart(life.context.deps, life.context.settings, 1);
    const swap = swapIn("submitted", { wallet: ACCOUNT, id: "other.0.1", runId: "other" });
    addRun(life.store, runSample({ id: "other", strategyId: "other", swaps: [swap] }));
    const [slot] = await quoteForecast(life.context, world);
    const problem = {
      code: "wallet_busy",
      detail: expect.stringContaining("another swap, approval or revocation of USDC"),
    };
    expect(slot?.swaps[0]).toMatchObject({ bought: 0n, problem });
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Fill, Mix, Run, Status } from "../../dashboard/source/answers.ts";
import { averageCost, standingOf, stepsAt, type Trade, tradesOf } from "../../dashboard/source/model/average-cost.ts";
import { concernsOf, worstFirst } from "../../dashboard/source/model/concerns.ts";
import { fileNews } from "../../dashboard/source/model/file-news.ts";
import { gainsOf } from "../../dashboard/source/model/gains.ts";
import { merged, placed, quotedLine } from "../../dashboard/source/model/price-line.ts";
import { readAgain, renewed } from "../../dashboard/source/model/run-list.ts";
import { visibleRows } from "../../dashboard/source/model/visible-rows.ts";
import { scaleEnd, weightBar } from "../../dashboard/source/model/weights.ts";
import { parseRoute } from "../../dashboard/source/route.ts";

const address = `0x${"00".repeat(20)}`;
const money = (amount: string, symbol: string) => ({ amount, raw: "0", decimals: 18, symbol, address });

function fillOf(sold: [string, string], bought: [string, string], more: Partial<Fill> = {}): Fill {
  return {
    ...{ swap: "s", run: "r", strategy: "x", at: "2026-01-01T00:00:00.000Z" },
    ...{ sold: money(...sold), bought: money(...bought), soldUsd: "100", boughtUsd: "99" },
    ...{ soldPriceUsd: "1", boughtPriceUsd: "2", againstQuote: null, againstReference: null },
    ...more,
  };
}

const trade = (side: Trade["side"], amount: number, price: number, atSeconds: number): Trade => ({
  ...{ side, amount, price, atSeconds, run: "r" },
});

describe("an edited file", () => {
  const problem = { line: 1, column: 1, path: "sell", message: "is no amount", suggestion: null };
  const alert = (code: string, text: string): Status["alerts"][number] => ({
    ...{ severity: "warning", code, subject: "configuration", text },
    ...{ strategy: null, at: "2026-01-01T00:00:00.000Z" },
  });
  const taken = { isEdited: true, problems: [] };

  it("is announced for the next slot where it is taken over, and as not in force where it has mistakes", () => {
    expect(fileNews({ isEdited: false, problems: [] }, [alert("RESTART_NEEDED", "of something else")])).toBeUndefined();
    expect(fileNews(taken, [alert("GAS_LOW", "of something else")])).toContain("for the next slot");
    expect(fileNews({ isEdited: true, problems: [problem] }, [])).toContain("has mistakes");
  });

  it("is announced for no slot where another file holds it back: one with mistakes, or the policy", () => {
    for (const code of ["CONFIGURATION_REFUSED", "RESTART_NEEDED"]) {
      const news = fileNews(taken, [alert("GAS_LOW", "else"), alert(code, "policy.yaml: why")]);
      expect(news).not.toContain("next slot");
      expect(news).toContain("the settings from before stay in force: policy.yaml: why");
    }
  });
});

describe("buys and sells", () => {
  it("reads the side and the price of fills in dollars and in the quote token", () => {
    const fills = [fillOf(["110", "USDC"], ["0.5", "WETH"]), fillOf(["0.25", "WETH"], ["60", "DAI"])];
    const inDollars = tradesOf(fills, "WETH", { kind: "usd" });
    expect(inDollars.map(({ side, price }) => ({ side, price }))).toEqual([
      { side: "buy", price: 200 },
      { side: "sell", price: 396 },
    ]);
    // what was paid in another token than the quote has no price in it
    expect(tradesOf(fills, "WETH", { kind: "token", symbol: "USDC" }).map(({ price }) => price)).toEqual([220]);
  });

  it("leaves out what has no price and what is of other tokens", () => {
    const fills = [fillOf(["1", "USDC"], ["0", "WETH"]), fillOf(["1", "USDC"], ["1", "WETH"], { soldUsd: null })];
    expect(tradesOf(fills, "WETH", { kind: "usd" })).toEqual([]);
    expect(tradesOf([fillOf(["1", "USDC"], ["1", "DAI"])], "WETH", { kind: "usd" })).toEqual([]);
  });

  it("averages what was bought, keeps the average at sells, and begins anew after everything was sold", () => {
    const trades = [trade("buy", 1, 100, 1), trade("buy", 3, 200, 2), trade("sell", 2, 500, 3), trade("sell", 9, 1, 4)];
    expect(averageCost(trades).map(({ price }) => price)).toEqual([100, 175, 175, null]);
    expect(averageCost([...trades, trade("buy", 1, 50, 5)]).at(-1)?.price).toBe(50);
  });

  it("says what is held of what was bought, and what it gained", () => {
    const trades = [trade("buy", 1, 100, 1), trade("buy", 3, 200, 2), trade("sell", 2, 500, 3)];
    expect(standingOf(trades, 350)).toEqual({ amount: 2, averagePrice: 175, gainPercent: 100 });
    expect(standingOf([trade("buy", 1, 100, 1), trade("sell", 1, 90, 2)], 50)).toBeUndefined();
    expect(standingOf([], 50)).toBeUndefined();
  });

  it("draws a step line that knows nothing of what comes later", () => {
    const points = averageCost([trade("buy", 1, 100, 10), trade("buy", 1, 300, 20)]);
    expect(stepsAt(points, [5, 10, 15, 20, 25])).toEqual([null, 100, 100, 200, 200]);
  });
});

describe("price lines", () => {
  it("quotes a token in another by the newest price until then", () => {
    const token = { atSeconds: [1, 5, 9], usd: ["10", "20", "30"] };
    const quote = { atSeconds: [2, 8], usd: ["2", "0.5"] };
    expect(quotedLine(token, quote)).toEqual({ atSeconds: [5, 9], price: [10, 60] });
  });

  it("puts values of two lists on one axis", () => {
    const axis = merged([3, 1], [2, 3]);
    expect(axis).toEqual([1, 2, 3]);
    expect(placed(axis, [1, 3], [10, 30])).toEqual([10, null, 30]);
  });
});

describe("a long list", () => {
  it("keeps few rows in the document and always those that are seen", () => {
    const scrolls = fc.record({
      count: fc.integer({ min: 0, max: 10_000 }),
      top: fc.integer({ min: 0, max: 500_000 }),
      height: fc.integer({ min: 1, max: 2_000 }),
    });
    fc.assert(
      fc.property(scrolls, ({ count, top, height }) => {
        const rowHeight = 44;
        const { first, end } = visibleRows({ count, rowHeight, top, height });
        expect(first >= 0 && end <= count && first <= Math.max(end, 0)).toBe(true);
        expect(end - first).toBeLessThanOrEqual(Math.ceil(height / rowHeight) + 14);
        const seenFirst = Math.floor(top / rowHeight);
        const seenLast = Math.min(Math.ceil((top + height) / rowHeight), count);
        if (seenFirst < count) expect(first <= seenFirst && end >= seenLast).toBe(true);
      }),
    );
  });
});

describe("weights", () => {
  const weight = (now: string | null, soft: [string, string] | null, hard: [string, string] | null) =>
    ({
      token: { symbol: "WETH", address, decimals: 18 },
      ...{ weight: now, target: "60", softLow: soft?.[0] ?? null, softHigh: soft?.[1] ?? null },
      ...{ hardLow: hard?.[0] ?? null, hardHigh: hard?.[1] ?? null },
    }) satisfies Mix["weights"][number];

  it("says where a token stands against its bands", () => {
    expect(weightBar(weight("61", ["55", "65"], ["50", "70"])).standing).toBe("inside");
    expect(weightBar(weight("67", ["55", "65"], ["50", "70"])).standing).toBe("near the edge");
    expect(weightBar(weight("71", ["55", "65"], ["50", "70"])).standing).toBe("outside");
    expect(weightBar(weight("67", ["55", "65"], null)).standing).toBe("outside");
    expect(weightBar(weight(null, ["55", "65"], null)).standing).toBe("unknown");
  });

  it("gives all bars of a mix one scale that holds them", () => {
    expect(scaleEnd([weightBar(weight("61", ["55", "65"], ["50", "71"]))])).toBe(80);
    expect(scaleEnd([weightBar(weight("99", null, null))])).toBe(100);
  });
});

describe("places of the page", () => {
  it("reads them, and says what it does not know", () => {
    expect(parseRoute("")).toEqual({ page: "overview" });
    expect(parseRoute("#/strategy/a%2Fb%20%3Cb%3E")).toEqual({ page: "strategy", id: "a/b <b>" });
    expect(parseRoute("#/history")).toEqual({ page: "history" });
    expect(parseRoute("#/history/more")).toEqual({ page: "nowhere", text: "history/more" });
    expect(parseRoute("#/strategy/%zz")).toEqual({ page: "nowhere", text: "strategy/%zz" });
    expect(parseRoute("#/run/")).toEqual({ page: "nowhere", text: "run/" });
  });
});

describe("what swaps came to", () => {
  const of = (sold: [string, string], bought: [string, string], strategy = "x"): Fill => {
    const fill = fillOf(sold, bought);
    return {
      ...fill,
      strategy,
      sold: { ...fill.sold, address: sold[1] },
      bought: { ...fill.bought, address: bought[1] },
    };
  };

  it("is the gain since of purchases, and of sales what would have been lost, at prices of now", () => {
    const gains = gainsOf(
      [
        of(["100", "USDC"], ["0.05", "WETH"]),
        of(["100", "USDC"], ["0.03", "WETH"]),
        of(["1", "WETH"], ["2200", "USDC"], "y"),
      ],
      new Map([
        ["USDC", 1],
        ["WETH", 3_000],
      ]),
    );
    expect(gains.get("x")?.usd).toBeCloseTo(40);
    expect(gains.get("x")?.percent).toBeCloseTo(20);
    expect(gains.get("y")?.usd).toBeCloseTo(-800);
  });

  it("is unknown where a price is missing, and never a part of it", () => {
    const fills = [of(["100", "USDC"], ["1", "WETH"]), of(["100", "USDC"], ["1", "NEW"])];
    expect(
      gainsOf(
        fills,
        new Map([
          ["USDC", 1],
          ["WETH", 100],
        ]),
      ).size,
    ).toBe(0);
    expect(gainsOf([], new Map()).size).toBe(0);
  });
});

describe("what needs attention", () => {
  const alert = (code: string, strategy: string) => ({
    ...{ severity: "warning" as const, code, subject: "wait of run_1", text: "approve it", strategy },
    at: "2026-01-01T00:00:00.000Z",
  });
  const status = (more: object) =>
    ({
      healthy: true,
      parts: {},
      halts: [],
      modes: [],
      alerts: [],
      channels: [],
      waiting: [],
      ...more,
    }) as unknown as Status;
  const waits = {
    kind: "approval",
    strategy: "x",
    run: "run_1",
    swap: "s",
    text: null,
    since: "2026-01-01T00:00:00.000Z",
    until: "2026-01-02T00:00:00.000Z",
  };

  it.each([
    ["approval", ": within 2m approve it with: swapd approve run_1; or refuse it", "Nothing is signed"],
    ["announcement", "; stop it with: swapd skip run_1; or let it go on", "It goes on at"],
  ])("says what is sold for what where a person is to answer an %s", (kind, more, then) => {
    const trade = "x wants to sell 400 DAI (399.95 USD) for about 0.13 WETH";
    // However many alerts are open: theirs may be none of those that are read.
    const [concern] = concernsOf(status({ waiting: [{ ...waits, kind, text: `${trade}${more}` }] }));
    expect(concern?.text.startsWith(`${trade}. ${then}`)).toBe(true);
  });

  it("says of a run that waits for a person once what can be done, and of others' waits as they are told", () => {
    const alerts = [alert("APPROVAL_NEEDED", "x"), alert("APPROVAL_NEEDED", "y"), alert("NO_FUNDS", "x")];
    const found = concernsOf(status({ waiting: [waits], alerts }));
    expect(found.map(({ title, strategy, offer }) => [title, strategy, offer])).toEqual([
      ["x waits for an approval", "x", "answer"],
      ["approval needed: wait of run_1", "y", undefined],
      ["no funds: wait of run_1", "x", undefined],
    ]);
  });
});

it("shows the worst of many open alerts first, however old it is", () => {
  const warnings = Array.from({ length: 60 }, (_, place) => ({ number: 100 - place, severity: "warning" }));
  const found = worstFirst([{ number: 101, severity: "info" }, ...warnings, { number: 7, severity: "critical" }]);
  expect(found.slice(0, 2).map(({ number }) => number)).toEqual([7, 100]);
  expect(found.at(-1)).toEqual({ number: 101, severity: "info" });
});

describe("the list of runs", () => {
  const runs = (from: number, to: number, state = "filled") =>
    Array.from({ length: from - to + 1 }, (_, place) => ({ id: `run_${from - place}`, state }) as Run);
  const idsOf = (list: { readonly items: readonly Run[] }) => list.items.map(({ id }) => Number(id.slice(4)));

  it("has no gap where more came meanwhile than are read at once: it goes on from what was read", () => {
    const old = { items: runs(400, 1), next: null };
    const far = { items: runs(900, 701), next: "run 701" };
    expect(renewed(old, far)).toEqual(far);
    const near = renewed(old, { items: runs(450, 251), next: "run 251" });
    expect([idsOf(near), near.next]).toEqual([idsOf({ items: runs(450, 1) }), null]);
    const first = { items: runs(20, 1), next: null };
    expect(renewed({ items: [], next: undefined }, first)).toEqual(first);
    expect(renewed({ items: runs(30, 5), next: "run 5" }, first)).toEqual(first);
  });

  it("grows no longer than a page that is open for days has room for", () => {
    let list: Parameters<typeof renewed>[0] = { items: runs(200, 1), next: null };
    let longest = 0;
    for (let newest = 300; newest <= 40_000; newest += 100) {
      list = renewed(list, { items: runs(newest, newest - 199), next: `run ${newest - 199}` });
      longest = Math.max(longest, list.items.length);
      expect([list.items[0]?.id, list.next === null || list.items.length >= 200]).toEqual([`run_${newest}`, true]);
    }
    expect(longest).toBeLessThanOrEqual(10_000);
    expect(list.next).not.toBeNull();
  });

  it("reads again what was open when it was read, however many came since", () => {
    expect(readAgain([])).toBe(200);
    expect(readAgain(runs(900, 1))).toBe(200);
    expect(readAgain([...runs(900, 601), ...runs(600, 600, "executing"), ...runs(599, 1)])).toBe(301);
    expect(readAgain([...runs(900, 201), ...runs(200, 200, "parked"), ...runs(199, 1)])).toBe(500);
  });
});

import { describe, expect, it } from "vitest";
import { loaded, REBALANCE, strategyProblems, VALUE_AVERAGING } from "./project.ts";

const DCA = `kind: dca
wallet: main
sell: "100 USDC"
buy: WETH
schedule: { at: "Mon 09:00", timezone: Europe/Berlin }
`;
const SWEEP = `kind: sweep
wallet: main
from: WETH
to: USDC
when: { above: "500 USD" }
lot: { min: "100 USD" }
schedule: { every: 1h }
`;
const STOP = `kind: threshold
wallet: main
sell: "0.5 WETH"
buy: USDC
when: { crosses_below: "2400 USDC" }
floor: 3%
schedule: { every: 30s }
`;
const TWAP = `kind: twap
wallet: main
sell: "2 WETH"
buy: USDC
start: 2026-11-03T08:00Z
duration: 10d
every: 2h
slice: { min: "0.01 WETH" }
`;

/** The budget of a file. */
function budgetOf(text: string) {
  return loaded({ "strategies/weekly.yaml": text }).strategies[0]?.spec.budget;
}

describe("a budget", () => {
  it("BUD-2 is of the schedule's time zone unless it names one", () => {
    const budget = (lines: string) => budgetOf(`${DCA}${lines}\n`);
    expect(budget('budget: { per_month: "300 USDC", per_day: "100 USDC" }')).toMatchObject({
      calendar: {
        timezone: "Europe/Berlin",
        limits: [
          { period: "day", most: 100_000_000n },
          { period: "month", most: 300_000_000n },
        ],
      },
    });
    expect(budget('budget: { per_week: "300 USDC", timezone: Asia/Tokyo }')).toMatchObject({
      calendar: { timezone: "Asia/Tokyo" },
    });
  });

  it.each([
    ["dca", DCA, "USDC"],
    ["threshold", STOP, "WETH"],
    ["twap", TWAP, "WETH"],
    ["value-averaging", VALUE_AVERAGING, "USDC"],
    ["sweep", SWEEP, "USD"],
    ["rebalance", REBALANCE.replace(/^budget: .*\n/m, ""), "USD"],
  ])("BUD-1 has a day, a week and a month in a file of the kind %s", (kind, text, currency) => {
    const file = `${text}budget: { per_day: "3000 ${currency}", per_week: "4000 ${currency}", per_month: "5000 ${currency}", timezone: UTC }\n`;
    expect(text).toContain(`kind: ${kind}\n`);
    const budget = budgetOf(file);
    expect(budget?.calendar?.limits.map(({ period }) => period)).toEqual(["day", "week", "month"]);
    expect(budget?.inDollars === true).toBe(currency === "USD");
  });

  it("BUD-3 is in dollars where a kind may sell several tokens", () => {
    const budget = budgetOf(`${SWEEP}budget: { per_day: "300 USD", total: "9000 USD", timezone: UTC }\n`);
    expect(budget).toMatchObject({ inDollars: true, total: 9_000n * 10n ** 18n });
  });

  it.each([
    [
      "a period without a midnight",
      `${STOP}budget: { per_day: "1 WETH" }`,
      "8:9 budget: a day, week or month begins at midnight, and neither budget nor schedule says where -> add timezone: Europe/Berlin, or timezone: UTC",
    ],
    [
      "half a time zone",
      `${STOP}budget: { per_day: "1 WETH", timezone: EST }`,
      `8:40 budget.timezone: "EST" names a half of the year or several places, not one time zone -> did you mean "America/New_York"? It follows summer time where there is one`,
    ],
    [
      "a time zone of nothing",
      `${DCA}budget: { total: "5200 USDC", timezone: UTC }`,
      "6:31 budget.timezone: only a day, week or month begins at a midnight -> drop the key, or use per_day, per_week or per_month",
    ],
    [
      "BUD-12 a day of more than its week",
      `${DCA}budget: { per_day: "500 USDC", per_week: "200 USDC" }`,
      "6:20 budget.per_day: is more than per_week, so it would never bind -> lower it, or leave it out",
    ],
    [
      "a day of less than an order",
      `${DCA}budget: { per_day: "99 USDC" }`,
      "6:20 budget.per_day: is less than sell lets through, so nothing would ever be sold -> raise it, or lower sell",
    ],
    [
      "a day in another token",
      `${DCA}budget: { per_day: "1 WETH" }`,
      "6:20 budget.per_day: must be in USDC, not in WETH -> write how much it is in USDC",
    ],
    [
      "a token where dollars are counted",
      `${SWEEP}budget: { per_day: "300 USDC", timezone: UTC }`,
      '8:20 budget.per_day: this kind may sell several tokens, so its budget is in dollars, not in USDC -> write for example "500 USD"',
    ],
    [
      "dollars that leave no lot",
      `${SWEEP}budget: { per_day: "104 USD", timezone: UTC }`,
      "8:20 budget.per_day: is less than lot.min lets through, so nothing would ever be sold -> raise it, or lower lot.min",
    ],
    [
      "a total of a twap",
      `${TWAP}budget: { total: "1 WETH" }`,
      "9:11 budget.total: sell says the same for this kind -> write it there",
    ],
    [
      "an end of a threshold",
      `${STOP}budget: { until: 2027-12-31 }`,
      "8:11 budget.until: until says the same for this kind -> write it there",
    ],
    [
      "a day of less than a fixed amount of a threshold",
      `${STOP}budget: { per_day: "0.4 WETH", timezone: UTC }`,
      "8:20 budget.per_day: is less than sell lets through, so nothing would ever be sold -> raise it, or lower sell",
    ],
    [
      "a total of less than that",
      `${STOP}budget: { total: "0.4 WETH" }`,
      "8:18 budget.total: is less than sell lets through, so nothing would ever be sold -> raise it, or lower sell",
    ],
    [
      "a day of less than the least of a share",
      `${DCA.replace('"100 USDC"', "{ amount: 10%, of: USDC }")}min_sell: "50 USDC"\nbudget: { per_day: "40 USDC" }`,
      "7:20 budget.per_day: is less than min_sell lets through, so nothing would ever be sold -> raise it, or lower min_sell",
    ],
    [
      "nothing at all",
      `${SWEEP}budget: {}`,
      '8:9 budget: needs per_day, per_week, per_month, total, until or max_runs -> for example { per_week: "500 USD" }',
    ],
  ])("BUD-12 %s is refused", (_name, text, expected) => {
    expect(strategyProblems(`${text}\n`)).toEqual([expected]);
  });
});

import { expect, test } from "vitest";
import { formatWouldBe } from "../../src/app/commands/history-on-paper.ts";
import type { RunHistory, SwapHistory } from "../../src/ports/history.ts";

const DOLLAR = `1${"0".repeat(18)}`;
const price = (usd: string) => ({ usd, source: "feed", atSeconds: 1 });

const expected = {
  ...{ bought: "41300000000000000", amountOutMin: "41000000000000000", swapFee: "300000", affiliateFee: "0" },
  ...{ gasCost: "120000000000000", priceImpact: "1500" },
};
const filled: SwapHistory = {
  ...{ id: "run_1.0.1", state: "final", reason: null, mode: "self-executed", wallet: "0xa1", recipient: "0xa1" },
  sell: { symbol: "USDC", address: "0x01", decimals: 6 },
  buy: { symbol: "WETH", address: "0x02", decimals: 18 },
  ...{ gross: "100000000", sold: "100000000", bought: "41200000000000000", hash: "0xab" },
  ...{ blockNumber: 7, blockTimeSeconds: 8, fees: { swap: "250000", affiliate: "50000" } },
  prices: {
    ...{ readAtMs: 1, sold: price(DOLLAR), bought: price(`2500${DOLLAR.slice(1)}`) },
    ...{ native: price(`2500${DOLLAR.slice(1)}`), expected },
  },
  costs: ["approve", "swap"].map((purpose) => ({
    ...{ purpose, kind: "original", visibility: "public", hash: "0xcd", succeeded: true },
    ...{ blockNumber: 7, blockTimeSeconds: 8, gasUsed: "100000", gasPrice: "500000000", dataFee: "20000000000000" },
  })),
  ...{ quoteId: null, nonce: null, deadlineSeconds: null, distributions: null, serviceRecord: null },
};
/** The same slot in a dry run: nothing of it was signed. */
const dry: SwapHistory = {
  ...filled,
  ...{ state: "skipped", reason: "dry_run", sold: null, bought: null, hash: null, costs: [] },
  ...{ blockNumber: null, blockTimeSeconds: null, fees: { swap: null, affiliate: null } },
};

const rowsOf = (swap: SwapHistory, run: Partial<RunHistory>): readonly string[][] =>
  formatWouldBe([
    { id: "run_1", strategy: "weekly", slotMs: 0, state: "filled", reason: null, detail: null, ...run, swaps: [swap] },
  ] as readonly RunHistory[])
    .split("\n")
    .map((line) => line.split(/ {2,}/));

test("a slot on paper shows what it bought, its price, fee, gas of all transactions and impact", () => {
  const [heading, row] = rowsOf(filled, {});
  expect(heading?.slice(4)).toEqual(["SOLD", "BOUGHT", "PRICE", "FEE", "GAS", "IMPACT"]);
  expect(row?.slice(2)).toEqual([
    ...["filled", "final", "100 USDC", "0.0412 WETH", "2427.18 USDC for 1 WETH"],
    // two times 100,000 gas at half a gwei, and what its data cost
    ...["0.3 USDC", "0.35 USD", "0.15%"],
  ]);
});

test("a slot of a dry run shows the same by its quote, and calls no refusal what would have traded", () => {
  const [, row] = rowsOf(dry, { state: "skipped", reason: "dry_run" });
  expect(row?.slice(2)).toEqual([
    ...["would trade (dry run)", "would trade (dry run)", "100 USDC", "0.0413 WETH", "2421.3 USDC for 1 WETH"],
    ...["0.3 USDC", "0.30 USD", "0.15%"],
  ]);
});

test("what was refused has its reason, what it asked for in parentheses, and neither price nor cost", () => {
  const refused = { ...dry, state: "denied", reason: "PRICE_IMPACT_TOO_HIGH", prices: null };
  expect(rowsOf(refused, { state: "failed", reason: "PRICE_IMPACT_TOO_HIGH" })[1]?.slice(2)).toEqual([
    ...["failed (PRICE_IMPACT_TOO_HIGH)", "denied (PRICE_IMPACT_TOO_HIGH)", "(100 USDC)", "-", "-", "-", "-", "-"],
  ]);
});

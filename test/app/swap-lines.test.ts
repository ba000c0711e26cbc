import { expect, test } from "vitest";
import { checkTable, swapLines } from "../../src/app/commands/swap-lines.ts";
import type { SwapHistory } from "../../src/ports/history.ts";

const price = (usd: string) => ({ usd, source: "feed", atSeconds: 1 });
const DOLLAR = `1${"0".repeat(18)}`;

const filled: SwapHistory = {
  ...{ id: "run_1.0.1", state: "final", reason: null, mode: "self-executed", wallet: "0xa1", recipient: "0xa1" },
  sell: { symbol: "USDC", address: "0x01", decimals: 6 },
  buy: { symbol: "WETH", address: "0x02", decimals: 18 },
  ...{ gross: "100000000", sold: "100000000", bought: "41200000000000000", hash: "0xab" },
  ...{ blockNumber: 7, blockTimeSeconds: 8, fees: { swap: "300000", affiliate: "0" } },
  prices: {
    readAtMs: 1,
    sold: price(DOLLAR),
    bought: price(`2500${DOLLAR.slice(1)}`),
    native: price(`2500${DOLLAR.slice(1)}`),
  },
  costs: ["approve", "swap"].map((purpose) => ({
    ...{
      purpose,
      kind: "original",
      visibility: "public",
      hash: "0xcd",
      succeeded: true,
      blockNumber: 7,
      blockTimeSeconds: 8,
    },
    ...{ gasUsed: "100000", gasPrice: "500000000", dataFee: null },
  })),
  ...{ quoteId: null, nonce: null, deadlineSeconds: null, distributions: null, serviceRecord: null },
};

test("a filled swap shows amounts, rate, fees, the gas of all its transactions, and how far it was from the reference", () => {
  expect(
    swapLines({ ...filled, prices: { ...filled.prices, expected: { bought: "41300000000000000" } } as never }, "ETH"),
  ).toEqual([
    "run_1.0.1: sold 100 USDC, bought 0.0412 WETH, 2427.18 USDC for 1 WETH, self-executed, transaction 0xab",
    "  fees, part of what was sold: service 0.3 USDC, 0.30 USD",
    "  gas: 0.0001 ETH, 0.25 USD (approve, swap)",
    "  against its quote of 0.0413 WETH: 24.2 bp less",
    "  against the reference prices of its clearing, 103.00 USD for 100.00 USD: 300 bp more",
  ]);
});

test("what is not known is left out, and a swap without a fill has nothing to show", () => {
  const bare = { ...filled, prices: null, costs: [], fees: { swap: null, affiliate: null } };
  expect(swapLines(bare, "ETH")).toHaveLength(1);
  expect(swapLines({ ...filled, sold: null, bought: null }, "ETH")).toEqual([]);
});

test("of the checks those that failed come first, and none that passed reads like an error", () => {
  const checks = [
    { passed: true, code: "REFERENCE_MISSING", value: "1.00 USD (feed)", limit: "fresh and positive" },
    { passed: false, code: "DAILY_CAP_EXCEEDED", value: "120.50 USD", limit: "at most 100.00 USD" },
  ];
  expect(
    checkTable(checks)
      .split("\n")
      .map((line) => line.replaceAll(/ {2,}/g, " | ")),
  ).toEqual([
    "CHECK | FOUND | ALLOWED | DENIED AS",
    "FAILED | 120.50 USD | at most 100.00 USD | DAILY_CAP_EXCEEDED",
    "ok | 1.00 USD (feed) | fresh and positive",
  ]);
  expect(checkTable(checks.slice(0, 1)).split("\n")[0]).toBe("CHECK  FOUND            ALLOWED");
});

test("a list of many addresses and a long nonce do not make every line of the checks as long as themselves", () => {
  const address = `0x${"5f".repeat(20)}`;
  const checks = [
    {
      passed: true,
      code: "TOKEN_NOT_ALLOWED",
      value: `token: ${address}`,
      limit: [address, address, address].join(", "),
    },
    { passed: true, code: "NONCE_MISSING", value: `nonce: ${"1234567890".repeat(7)}`, limit: "present" },
  ];
  expect(checkTable(checks)).toContain("one of 3 addresses of the policy");
  expect(checkTable(checks)).toContain("nonce: 12345678...34567890");
});

test("what a row of before does not say of its quote is not made up", () => {
  expect(swapLines(filled, "ETH").filter((line) => line.includes("quote"))).toEqual([]);
});

test("a swap that is signed and not filled says by which nonce, and until when it can be", () => {
  const signed = { ...filled, state: "unknown", sold: null, bought: null, nonce: "7", deadlineSeconds: 1_700_000_100 };
  const until = "until 2023-11-14T22:15:00Z";
  expect(swapLines(signed, "ETH")).toEqual([`run_1.0.1: signed to sell 100 USDC, self-executed, nonce 7, ${until}`]);
  expect(swapLines({ ...signed, nonce: null }, "ETH")[0]).toContain(`without a nonce of its own, ${until}`);
  expect(swapLines({ ...signed, deadlineSeconds: null }, "ETH")).toEqual([]);
});

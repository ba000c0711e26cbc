import { expect, test } from "vitest";
import { swapLine } from "../../src/app/follow-swaps.ts";

const run = { slotMs: Date.UTC(2026, 10, 25, 20, 2, 40), strategy: "dollars-from-weth" };
const filled = {
  ...{ state: "confirmed", reason: null, mode: "self-executed", gross: "100000000000000000" },
  ...{ sold: "100000000000000000", bought: "303593247", hash: `0x${"4007e5f3".repeat(8)}` },
  sell: { symbol: "WETH", address: "0x01", decimals: 18 },
  buy: { symbol: "USDC", address: "0x02", decimals: 6 },
};
const person = { isInteractive: true };
const pipe = { isInteractive: false };

test("a fill is one line of at most 120 columns at a terminal, with the ends of its hash", () => {
  const line = swapLine(run, filled, person) ?? "";
  expect(line).toBe("20:02:40Z  dollars-from-weth   self-executed  0.1 WETH -> 303.593247 USDC  0x4007e5f3…4007e5f3");
  expect(line.length).toBeLessThanOrEqual(120);
});

test("elsewhere the instant and the hash are whole", () => {
  const line = swapLine(run, filled, pipe) ?? "";
  expect(line.startsWith("2026-11-25T20:02:40Z  ")).toBe(true);
  expect(line.endsWith(filled.hash)).toBe(true);
});

test.each([
  ["expired", null, "0.1 WETH -> USDC  expired"],
  ["denied", "OUTPUT_BELOW_MINIMUM", "0.1 WETH -> USDC  denied (OUTPUT_BELOW_MINIMUM)"],
  ["skipped", "insufficient_balance", "0.1 WETH -> USDC  skipped (insufficient_balance)"],
  ["reverted", null, "0.1 WETH -> USDC  reverted"],
])("a swap that ended %s is named too, with its reason", (state, reason, end) => {
  const swap = { ...filled, state, reason, sold: null, bought: null, hash: null };
  expect(swapLine(run, swap, pipe)).toBe(`2026-11-25T20:02:40Z  dollars-from-weth   self-executed  ${end}`);
});

test("a swap on its way has no line yet", () => {
  for (const state of ["planned", "quoted", "submitted", "mined", "unknown"]) {
    expect(swapLine(run, { ...filled, state }, person)).toBeUndefined();
  }
});

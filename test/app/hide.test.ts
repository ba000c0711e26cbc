import { expect, test } from "vitest";
import { hidden } from "../../src/app/hide.ts";

const FILL =
  "weekly-2 sold 1,250.5 USDC, bought 0.100495 WETH on base, 995.074 USDC for 1 WETH, self-executed, gas 0.0001 ETH (0.10 USD), transaction 0x290a00112233445566778899aabbccddeeff00112233445566778899aabbccdd, run run_01K7";
const ACCOUNT = "account 0x00112233445566778899AABBCCDDEEFF00112233";

test("amounts are hidden, and names, ids, times and shares stay", () => {
  const { text } = hidden({ text: FILL, subject: "s" }, ["amounts"]);
  expect(text).toBe(
    "weekly-2 sold *** USDC, bought *** WETH on base, *** USDC for *** WETH, self-executed, gas *** ETH (*** USD), transaction 0x290a00112233445566778899aabbccddeeff00112233445566778899aabbccdd, run run_01K7",
  );
  const other = "at 2026-11-22T01:12:09.000Z, 7h before, 50bps below 1.5%, until 2026-11-23: needs 12";
  expect(hidden({ text: other, subject: "" }, ["amounts"]).text).toBe(other.replace("needs 12", "needs ***"));
});

test("addresses and hashes are hidden, in the subject too", () => {
  expect(hidden({ text: FILL, subject: ACCOUNT }, ["addresses"])).toEqual({
    text: FILL.replace(/0x[0-9a-f]{64}/, "***"),
    subject: "account ***",
  });
});

test.each([
  ["5 USDC", "*** USDC"],
  ["5USDC", "5USDC"],
  ["$5.00", "$***"],
  ["5.", "***."],
  ["(5)", "(***)"],
  ["1'000.5 CHF", "*** CHF"],
  ["less than 0.01", "less than ***"],
  ["5, 6 and 7", "***, *** and ***"],
])("of %s is told %s", (text, expected) => {
  expect(hidden({ text, subject: "" }, ["amounts"]).text).toBe(expected);
});

test("a channel that is told everything is told everything", () => {
  expect(hidden({ text: FILL, subject: ACCOUNT }, [])).toEqual({ text: FILL, subject: ACCOUNT });
});

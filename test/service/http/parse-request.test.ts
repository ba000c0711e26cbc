import { getAddress } from "ethers";
import { describe, expect, test } from "vitest";
import { parseQuoteRequest, parseShape } from "../../../src/service/http/parse-request.ts";
import { balancesBody, executeSwapBody, quoteQuery, tokensBody } from "../../../src/service/http/request-schemas.ts";

const ADDRESS = `0x${"12".repeat(20)}`;
const networkNames = ["testnet"];
const quote = { fromTokenAddress: ADDRESS, toTokenAddress: ADDRESS, amount: "1", slippage: "0.1", gasless: "false" };

describe("a list that a body has to have is not said to be one value too many:", () => {
  const bodies = [
    ["no wallet", balancesBody, { networkNames, walletAddresses: [] }, /array.* >=1 items/],
    ["eleven wallets", balancesBody, { networkNames, walletAddresses: Array(11).fill(ADDRESS) }, /array.* <=10 items/],
    [
      "half an address",
      balancesBody,
      { networkNames, walletAddresses: [ADDRESS, "0x12"] },
      /entry 2: must be 0x and 40/,
    ],
    ["a name to leave out", tokensBody, { networkNames, exclude: ["USDC"] }, /entry 1: must be 0x and 40/],
    ["no network", tokensBody, { networkNames: [] }, /array.* >=1 items/],
    ["many searches", tokensBody, { networkNames, searchValue: Array(21).fill("a") }, /list of at most 20/],
  ] as const;
  test.each(bodies)("%s", (_name, schema, body, detail) => {
    expect(parseShape<unknown>(schema, body)).toMatchObject({
      error: "PARAMETER_MALFORMED",
      detail: expect.stringMatching(detail),
    });
  });

  test("many sources", () => {
    const parsed = parseShape(quoteQuery, { ...quote, liquiditySources: Array(17).fill("curve") });
    expect(parsed).toMatchObject({ parameter: "liquiditySources", detail: expect.stringMatching(/at most 16 names/) });
  });
});

test("what may be given once and was given twice is told so", () => {
  const once = { error: "PARAMETER_MALFORMED", detail: "must be given once" };
  expect(parseShape(quoteQuery, { ...quote, slippage: ["0.1", "0.2"] })).toMatchObject(once);
  expect(parseShape(quoteQuery, { ...quote, gasless: ["true", "true"] })).toMatchObject(once);
  expect(parseShape(executeSwapBody, { networkName: "testnet", quoteId: ["a"] })).toMatchObject(once);
});

test("a fraction with too many places is told how many it may have, and nothing of a token", () => {
  const affiliate = { affiliateAddress: ADDRESS };
  for (const [fields, parameter, places] of [
    [{ slippage: `0.${"0".repeat(18)}1` }, "slippage", 18],
    [{ ...affiliate, affiliateFee: `0.${"0".repeat(16)}1` }, "affiliateFee", 16],
    [{ ...affiliate, affiliateFeeInPercentage: `0.${"0".repeat(18)}1` }, "affiliateFeeInPercentage", 18],
  ] as const) {
    const refused = parseQuoteRequest({ ...quote, gasless: "false", ...fields }, { sources: [] });
    expect(refused).toMatchObject({ parameter, detail: `must have at most ${places} decimals` });
  }
});

test("the checksum of an address that clients name again and again is reckoned once, and a wrong one stays wrong", () => {
  const address = getAddress(`0x${"ab".repeat(20)}`);
  const named = (text: string) => ({ ...quote, toTokenAddress: text, fromAddress: text, toAddress: text });
  const costOf = (text: string): number => {
    const before = process.cpuUsage();
    for (let time = 0; time < 500; time += 1) parseShape(quoteQuery, named(text));
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  // The least of several: other threads of the process count, too.
  const leastCostOf = (text: string): number => Math.min(...Array.from({ length: 8 }, () => costOf(text)));
  expect(leastCostOf(address)).toBeLessThan(4 * leastCostOf(address.toLowerCase()));
  const mistyped = address.replace(/A/, "a");
  for (let time = 0; time < 2; time += 1) {
    expect(parseShape(quoteQuery, named(address)).kind).toBe("ok");
    expect(parseShape(quoteQuery, named(mistyped))).toMatchObject({ detail: expect.stringMatching(/checksum/) });
  }
});

test("a mistyped token to leave out is none that is found: a hundred checksums would take as long as a quote", () => {
  const exclude = [getAddress(`0x${"ab".repeat(20)}`).replace("b", "d")];
  expect(parseShape(tokensBody, { networkNames, exclude })).toMatchObject({ kind: "ok", value: { exclude } });
  const walletAddresses = exclude;
  expect(parseShape(balancesBody, { networkNames, walletAddresses })).toMatchObject({ error: "PARAMETER_MALFORMED" });
});

import { expect, it } from "vitest";
import { loaded, MAIN, POLICY, problemsOf } from "./project.ts";

const GWEI = 10n ** 9n;
const on = (name: string, fees = "") =>
  MAIN.replaceAll(/(USDC|WETH): { address: "0x\w+"/g, "$1: { address: preset")
    .replace("name: base", `name: ${name}`)
    .replace("rpc: [", `${fees}rpc: [`);
const feesOf = (main: string) => {
  const { network, transactions, policy } = loaded({ "main.yaml": main });
  return { ...network.fees, bumpAfterBlocks: transactions.bumpAfterBlocks, most: policy.maxFeePerGas };
};

it.each([
  ["ethereum", undefined, 5],
  ["base", GWEI / 10n, 15],
  ["optimism", GWEI / 10n, 15],
  ["arbitrum", 0n, 120],
])("are the network book's where nothing is said: %s", (name, maxPriorityFee, bumpAfterBlocks) => {
  expect(feesOf(on(name))).toMatchObject({ urgency: "normal", maxPriorityFee, bumpAfterBlocks });
});

it("are what is written down, and never more than the owner's ceiling", () => {
  const { most } = feesOf(on("base"));
  expect(feesOf(on("base", "fees: { urgency: fast, maxPriorityFee: 2gwei, maxFee: 0.5gwei }, "))).toMatchObject({
    ...{ urgency: "fast", maxPriorityFee: 2n * GWEI, most: GWEI / 2n },
  });
  expect(feesOf(on("base", "fees: { maxFee: 100000gwei }, ")).most).toBe(most);
  const bumps = `${on("base")}transactions: { bumpAfterBlocks: 7 }\n`;
  expect(feesOf(bumps).bumpAfterBlocks).toBe(7);
  const cancels = (name: string, more = "") =>
    loaded({ "main.yaml": `${on(name)}${more}` }).transactions.cancelPubliclyAfterBlocks;
  expect([cancels("ethereum"), cancels("arbitrum")]).toEqual([25, 600]);
  expect(cancels("arbitrum", "transactions: { cancelPubliclyAfterBlocks: 9 }\n")).toBe(9);
  expect(POLICY).toContain("max_gas_price");
});

it("name what is wrong with them", () => {
  const problems = problemsOf({ "main.yaml": on("base", "fees: { urgency: faster, maxFee: 5 }, ") });
  expect(problems.map(({ path }) => path).sort()).toEqual(["network.fees.maxFee", "network.fees.urgency"]);
  expect(JSON.stringify(problems)).toMatch(/5gwei/);
});

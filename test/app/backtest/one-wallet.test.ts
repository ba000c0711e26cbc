import { join } from "node:path";
import { expect, it } from "vitest";
import { backtestHome, csvOf, flat, played } from "./support/home.ts";

const purchase = (amount: number): string => `kind: dca
wallet: main
sell: "${amount} USDC"
buy: WETH
schedule: { every: 1d, anchor: 2025-01-01T06:00Z }
`;

/** Purchases of one wallet that are due in the same instant of each day. */
async function together(amounts: readonly number[], { more = "", prices = flat(2_000, 2 * 96) } = {}) {
  const home = backtestHome({ strategy: purchase(1), prices: csvOf(prices) });
  for (const [index, amount] of amounts.entries())
    home.write(`strategies/${String(index).padStart(2, "0")}.yaml`, `${purchase(amount)}${more}`);
  return await played(home, "--balance", "100000 USDC", "--strategy", join(home.folder, "strategies"));
}

it("strategies that share a wallet and an instant are played one after the other, whatever they sell", async () => {
  const amounts = [100, 200, 300, 400, 500];
  const told = await together(amounts);
  expect(told.strategies.map(({ ends }) => ends)).toEqual(amounts.map(() => ({ filled: 2 })));
  expect(told.fills.map(({ sold }) => Number(sold) / 1e6)).toEqual([...amounts, ...amounts]);
  // One swap and one approval each, 250,000 gas at 1 gwei of a coin that is worth 2,000 USD.
  expect(told.costs.gasUsd).toBe("5");
});

it("strategies that share a wallet and are tried again in the same instant are played one after the other too", async () => {
  const amounts = [100, 200, 300, 400, 500];
  const more = 'retry_for: 2h\nonly_if: { price: "<= 1500 USDC" }\n';
  // The price falls at 07:00, when all of them have been open for an hour.
  const told = await together(amounts, { more, prices: [...flat(2_000, 28), ...flat(1_400, 20)] });
  expect(told.strategies.map(({ ends }) => ends)).toEqual(amounts.map(() => ({ filled: 1 })));
  expect(told.fills.map(({ sold }) => Number(sold) / 1e6)).toEqual(amounts);
});

it("strategies that share a wallet and an instant may be many: no quote of one is forgotten for those of others", async () => {
  const told = await together(Array.from({ length: 70 }, () => 100));
  expect(told.fills).toHaveLength(140);
  expect(told.costs.gasUsd).toBe("70");
});

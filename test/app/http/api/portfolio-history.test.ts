import { expect, it } from "vitest";
import { describePortfolioHistory, type HistoryParts } from "../../../../src/app/http/api/describe-history.ts";
import { toAddress } from "../../../../src/domain/money/address.ts";
import { ETH, NOW_MS, priceOf, USDC, WALLET, WETH } from "../../../support/builders.ts";

const DAY_MS = 86_400_000;
const START_MS = NOW_MS - 4 * DAY_MS;

/** The wallet has 100 USDC; a day ago, and two days ago, it sold 50 of them. */
function partsOf(isCut: boolean): HistoryParts {
  const sale = {
    wallet: WALLET,
    recipient: WALLET,
    sell: USDC.address,
    sold: 50_000_000n,
    buy: WETH.address,
    bought: 0n,
  };
  const movements = [1, 2].map((days) => ({
    ...{ ...sale, block: 10 - days, atSeconds: Math.floor((NOW_MS - days * DAY_MS) / 1_000) },
  }));
  return {
    wallets: [WALLET],
    tokens: [USDC],
    known: new Map([[WALLET, { block: 20, balances: new Map([[USDC.address, 100_000_000n]]) }]]),
    coins: new Map(),
    ...{ movements, isCut },
    prices: new Map([[USDC.address, [{ atMs: START_MS - 1, usd: priceOf(USDC).usd }]]]),
    span: { sinceMs: START_MS + DAY_MS / 2, untilMs: NOW_MS - DAY_MS / 2, points: 4 },
  };
}

it("has no value of before the oldest swap that was read, where there are older ones: what they moved is not known", () => {
  const whole = describePortfolioHistory(partsOf(false));
  expect(whole.totalUsd).toEqual(["200", "200", "150", "100"]);
  const cut = describePortfolioHistory(partsOf(true));
  expect(cut.totalUsd).toEqual([null, null, "150", "100"]);
  expect(cut.tokens[0]?.usd).toEqual([null, null, "150", "100"]);
});

it("has no value where what a wallet has of a token is not known, or of the wallet nothing is: neither is zero", () => {
  const parts = { ...partsOf(false), tokens: [USDC, WETH] };
  const unread = describePortfolioHistory(parts);
  expect(unread.totalUsd).toEqual([null, null, null, null]);
  expect(unread.tokens.map(({ token }) => token.symbol)).toEqual(["USDC"]);
  const away = describePortfolioHistory({ ...partsOf(false), known: new Map() });
  expect([away.totalUsd, away.tokens]).toEqual([[null, null, null, null], []]);
});

it("counts a swap once for a wallet that receives it and was read at another block than the one that sold", () => {
  const recipient = toAddress(`0x${"c0".repeat(20)}`);
  const [sale] = partsOf(false).movements;
  if (sale === undefined) throw new Error("there is no sale");
  const WHOLE = 10n ** 18n;
  const balances = (usdc: bigint, weth: bigint) =>
    new Map([
      [USDC.address, usdc],
      [WETH.address, weth],
    ]);
  for (const [sellerBlock, recipientBlock] of [
    [5, 20],
    [20, 5],
  ] as const) {
    const [sold, bought] = [
      sellerBlock > sale.block ? 50_000_000n : 100_000_000n,
      recipientBlock > sale.block ? WHOLE : 0n,
    ];
    const { tokens } = describePortfolioHistory({
      ...partsOf(false),
      ...{ wallets: [WALLET, recipient], tokens: [USDC, WETH], movements: [{ ...sale, recipient, bought: WHOLE }] },
      known: new Map([
        [WALLET, { block: sellerBlock, balances: balances(sold, 0n) }],
        [recipient, { block: recipientBlock, balances: balances(0n, bought) }],
      ]),
    });
    const amounts = tokens.map(({ token, amount }) => [token.symbol, ...amount]);
    expect(amounts, `read at ${sellerBlock} and ${recipientBlock}`).toEqual([
      ["USDC", "100", "100", "100", "50"],
      ["WETH", "0", "0", "0", "1"],
    ]);
  }
});

/** The same wallet, which got a tenth of an ether for its newest sale and has 2 of them. */
function partsWithCoin(pricedFromMs: number): HistoryParts {
  const parts = partsOf(false);
  const [newest, ...older] = parts.movements;
  if (newest === undefined) throw new Error("there is no sale");
  const TENTH = 10n ** 17n;
  return {
    ...parts,
    tokens: [ETH, USDC],
    movements: [{ ...newest, buy: ETH.address, bought: TENTH }, ...older],
    coins: new Map([[WALLET, { block: 21, balances: new Map([[ETH.address, 20n * TENTH]]) }]]),
    prices: new Map([...parts.prices, [ETH.address, [{ atMs: pricedFromMs, usd: priceOf(ETH).usd }]]]),
  };
}

it("counts the native coin, taken back by the swaps that bought it", () => {
  const { totalUsd, without, tokens } = describePortfolioHistory(partsWithCoin(START_MS - 1));
  expect([totalUsd, without]).toEqual([["2100", "2100", "2050", "2100"], []]);
  expect(tokens.map(({ token, amount }) => [token.symbol, ...amount])).toEqual([
    ["ETH", "1.9", "1.9", "1.9", "2"],
    ["USDC", "200", "200", "150", "100"],
  ]);
});

it("leaves the native coin out as a whole, and says so, where a price of it or what a wallet has of it is not known", () => {
  const late = describePortfolioHistory(partsWithCoin(NOW_MS - DAY_MS));
  const away = describePortfolioHistory({ ...partsWithCoin(START_MS - 1), coins: new Map() });
  for (const { totalUsd, without, tokens } of [late, away]) {
    expect([totalUsd, without]).toEqual([["200", "200", "150", "100"], ["ETH"]]);
    expect(tokens.map(({ token }) => token.symbol)).toEqual(["USDC"]);
  }
});

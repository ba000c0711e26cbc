import fc from "fast-check";
import { type Asset, type Entry, inOrder, worthOfSwap } from "../../src/domain/books/entry.ts";
import type { UsdPrice } from "../../src/domain/money/price.ts";
import {
  ETH,
  handedOn,
  MAIN,
  OTHER,
  opening,
  START_MS,
  STRANGER,
  spentGas,
  swapped,
  USDC,
  WETH,
} from "./book-samples.ts";

const ASSETS = [USDC, WETH, ETH];

/** A price to the eighth place, as feeds have them; sometimes none. */
const price = (day: number) =>
  fc.option(
    fc.bigInt({ min: 1n, max: 10n ** 13n }).map((ticks) => ({
      ...{ usd: (ticks * 10n ** 10n) as UsdPrice, source: "feed", atSeconds: START_MS / 1_000 + day * 86_400 },
    })),
    { nil: undefined, freq: 8 },
  );

/** From dust to millions, of every place after the point. */
const amount = ({ decimals }: Asset) =>
  fc.oneof(fc.bigInt({ min: 1n, max: 10n ** BigInt(decimals + 6) }), fc.bigInt({ min: 1n, max: 1_000n }));

const quantity = (asset: Asset) => amount(asset).map((raw) => ({ asset, raw }));
const wallet = fc.constantFrom(MAIN, OTHER);

function openingOf(day: number): fc.Arbitrary<readonly Entry[]> {
  return fc.constantFrom(...ASSETS).chain((asset) =>
    fc
      .record({
        held: quantity(asset),
        wallet,
        basis: fc.option(fc.bigInt({ min: 0n, max: 10n ** 24n }), { nil: undefined }),
      })
      .map((drawn) => [
        opening(day, { ...drawn, acquiredMs: drawn.basis === undefined ? undefined : opening(day).atMs }),
      ]),
  );
}

function swapOf(day: number): fc.Arbitrary<readonly Entry[]> {
  return fc.shuffledSubarray(ASSETS, { minLength: 2, maxLength: 2 }).chain(([sold = USDC, bought = WETH]) =>
    fc
      .record({
        sold: quantity(sold),
        bought: quantity(bought),
        wallet,
        gas: fc.option(quantity(ETH), { nil: undefined }),
        prices: fc.record({ sold: price(day), bought: price(day), native: price(day) }),
        recipient: fc.option(fc.constantFrom(MAIN, OTHER, STRANGER), { nil: undefined, freq: 2 }),
      })
      .map(({ recipient = MAIN, ...drawn }) => {
        const swap = swapped(day, { ...drawn, recipient: recipient === MAIN ? drawn.wallet : recipient });
        if (swap.recipient === swap.wallet) return [swap];
        const { bought: moved, prices } = swap;
        const to = { wallet: swap.wallet, recipient: swap.recipient, isOwn: swap.recipient !== STRANGER };
        return [swap, handedOn(day, { ...to, moved, price: prices.bought, worth: worthOfSwap(swap) })];
      }),
  );
}

function gasOf(day: number): fc.Arbitrary<readonly Entry[]> {
  return fc.record({ wallet, gas: quantity(ETH), price: price(day) }).map((drawn) => [spentGas(day, drawn)]);
}

/** Histories of two wallets and three assets, at most one kind of thing a day, in their order. */
export function histories(): fc.Arbitrary<readonly Entry[]> {
  return fc
    .array(fc.constantFrom(openingOf, swapOf, swapOf, swapOf, gasOf), { minLength: 1, maxLength: 25 })
    .chain((kinds) => fc.tuple(...kinds.map((kind, day) => kind(day))))
    .map((days) => inOrder(days.flat()));
}

import { id } from "ethers";
import { describe, expect, test } from "vitest";
import { type Hex, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { measureFill } from "../../../src/domain/run/measure-fill.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import { ETH, GWEI, HUNDRED_USDC, POOL, RELAYER, ROUTER, USDC, WALLET, WBTC, WETH } from "../../support/builders.ts";
import { hash, receiptFor, swapIn, topicOf, transferLog, withdrawalLog } from "../../support/reading-samples.ts";

const swap = swapIn("submitted");
const TENTH = 10n ** 17n;

const sale = transferLog({ token: USDC.address, from: WALLET, to: ROUTER, amount: HUNDRED_USDC });
const purchase = transferLog({ token: WETH.address, from: POOL, to: WALLET, amount: TENTH });

function measure(logs: Parameters<typeof receiptFor>[1] & object, change: Partial<Swap> = {}, value = 0n) {
  return measureFill(receiptFor(swap, logs), { ...swap, ...change }, { wrapped: WETH.address, value });
}

test("a fill is what really moved, with the gas that we paid for it", () => {
  expect(measure({ logs: [sale, purchase] })).toEqual({
    ...{ hash: hash("ee"), blockNumber: 101, blockHash: hash("b1"), sold: HUNDRED_USDC, bought: TENTH },
    gasCost: 110_000n * GWEI,
  });
});

test("what a rollup charged on top of gas was paid too, for our own transactions", () => {
  expect(measure({ logs: [sale, purchase], dataFee: 7n }).gasCost).toBe(110_000n * GWEI + 7n);
  expect(measure({ logs: [sale, purchase], dataFee: 7n }, { mode: "gasless" }).gasCost).toBe(0n);
});

test("a relayer's gas is not ours", () => {
  expect(measure({ logs: [sale, purchase] }, { mode: "gasless" }).gasCost).toBe(0n);
});

test("a log without an amount moved nothing: a token may write what it wants, and the daemon goes on", () => {
  const empty = { data: "0x" } as const;
  const odd = { data: "0x12" } as const;
  const logs = [{ ...sale, ...empty }, { ...sale, ...odd }, sale, purchase, { ...purchase, ...empty }];
  expect(measure({ logs })).toMatchObject({ sold: HUNDRED_USDC, bought: TENTH });
  const unwrapped = withdrawalLog(WETH.address, TENTH);
  const native = measure({ logs: [sale, { ...unwrapped, ...empty }, unwrapped] }, { buy: ETH });
  expect(native).toMatchObject({ bought: TENTH });
});

test("what comes back to the wallet was not sold, and what leaves the recipient again was not bought", () => {
  const back = transferLog({ token: USDC.address, from: ROUTER, to: WALLET, amount: 1_000n });
  const away = transferLog({ token: WETH.address, from: WALLET, to: RELAYER, amount: 5n });
  const fill = measure({ logs: [sale, back, purchase, away] });
  expect(fill).toMatchObject({ sold: HUNDRED_USDC - 1_000n, bought: TENTH - 5n });
});

test("a fee that leaves the wallet alongside the swap counts as sold", () => {
  const fee = transferLog({ token: USDC.address, from: WALLET, to: RELAYER, amount: 500_000n });
  expect(measure({ logs: [sale, fee, purchase] }).sold).toBe(HUNDRED_USDC + 500_000n);
});

test("bought is counted at the recipient, who need not be the wallet", () => {
  const elsewhere = transferLog({ token: WETH.address, from: POOL, to: RELAYER, amount: TENTH });
  expect(measure({ logs: [sale, elsewhere] }, { recipient: RELAYER }).bought).toBe(TENTH);
  expect(measure({ logs: [sale, elsewhere] }).assumed).toBe(true);
});

describe("what the settlement promises and the logs do not show was left out: the worst that was signed is assumed", () => {
  const min = swap.terms?.amountOutMin ?? 0n;
  const worst = { sold: HUNDRED_USDC, bought: min, assumed: true };
  const part = (amount: bigint) => transferLog({ token: WETH.address, from: POOL, to: WALLET, amount });

  test.each([
    ["nothing", [], worst],
    ["no sale", [purchase], { ...worst, bought: TENTH }],
    ["no purchase", [sale], worst],
    ["no purchase, and more sold than was signed", [sale, sale], { ...worst, sold: 2n * HUNDRED_USDC }],
    ["a purchase below the minimum", [sale, part(min - 1n)], worst],
  ] as const)("shown is %s", (_name, logs, fill) => {
    expect(measure({ logs })).toMatchObject(fill);
  });

  test("the minimum itself is shown, and so is a sale of which a part came back", () => {
    const back = transferLog({ token: USDC.address, from: ROUTER, to: WALLET, amount: HUNDRED_USDC - 1n });
    const fill = measure({ logs: [sale, back, part(min)] });
    expect(fill).toMatchObject({ sold: 1n, bought: min });
    expect(fill).not.toHaveProperty("assumed");
  });

  test("a native sale shows by its value, a native purchase by what was unwrapped", () => {
    const unwrapped = withdrawalLog(WETH.address, TENTH);
    expect(measure({ logs: [purchase] }, { sell: ETH }, 5n)).not.toHaveProperty("assumed");
    expect(measure({ logs: [sale, unwrapped] }, { buy: ETH })).not.toHaveProperty("assumed");
    expect(measure({ logs: [sale] }, { buy: ETH })).toMatchObject(worst);
  });
});

describe("logs that are no transfer of ours count for nothing", () => {
  test.each([
    ["another token", transferLog({ token: WBTC.address, from: WALLET, to: ROUTER, amount: 7n })],
    ["other parties", transferLog({ token: USDC.address, from: POOL, to: ROUTER, amount: 7n })],
    ["an approval", { ...sale, topics: [hash("8c"), topicOf(WALLET), topicOf(ROUTER)] }],
    ["an NFT's transfer, which has a fourth topic", { ...sale, topics: [...sale.topics, hash("07")], data: "0x" }],
  ] as const)("%s", (_name, log) => {
    expect(measure({ logs: [sale, purchase, log] })).toMatchObject({ sold: HUNDRED_USDC, bought: TENTH });
  });
});

test("a native sale is the transaction's value, whatever its logs say", () => {
  expect(measure({ logs: [purchase] }, { sell: ETH, buy: WETH }, TENTH)).toMatchObject({ sold: TENTH, bought: TENTH });
});

test("native tokens bought are what the wrapped token paid out, and no other contract's word for it", () => {
  const logs = [sale, withdrawalLog(WETH.address, TENTH), withdrawalLog(WBTC.address, 9n)];
  expect(measure({ logs }, { buy: ETH }).bought).toBe(TENTH);
});

test("a wrapped token that unwraps without an event of its own, as Arbitrum's does, shows it as a transfer to nobody", () => {
  const burnt = (amount: bigint) => transferLog({ token: WETH.address, from: ROUTER, to: NATIVE_TOKEN, amount });
  const fill = measure({ logs: [sale, burnt(TENTH)] }, { buy: ETH });
  expect(fill).toMatchObject({ sold: HUNDRED_USDC, bought: TENTH });
  expect(fill).not.toHaveProperty("assumed");
  expect(measure({ logs: [sale, burnt(5n * TENTH), burnt(TENTH)] }, { buy: ETH }).bought).toBe(TENTH);
  // One that reports both paid out once.
  const both = measure(
    { logs: [sale, withdrawalLog(WETH.address, TENTH), burnt(TENTH)] },
    { buy: ETH, terms: undefined },
  );
  expect(both.bought).toBe(TENTH);
});

describe("coins that others unwrap in the same transaction are not ours", () => {
  const least = swap.terms?.amountOutMin ?? 0n;
  const coins = (...amounts: bigint[]) => measure({ logs: [sale, ...amounts.map(paid)] }, { buy: ETH });
  const paid = (amount: bigint) => withdrawalLog(WETH.address, amount);

  test.each([
    ["a larger payment of another order", [5n * TENTH, TENTH], TENTH],
    ["the same after it", [TENTH, 5n * TENTH], TENTH],
    ["payments too small to be of this one", [7n, TENTH, least - 1n], TENTH],
    ["several, of which none is enough alone", [least - 1n, TENTH / 2n], least],
  ])("%s", (_name, amounts, bought) => {
    expect(coins(...amounts)).toMatchObject({ bought });
    expect(coins(...amounts)).not.toHaveProperty("assumed");
  });

  test("too little altogether shows no purchase", () => {
    expect(coins(1n, least - 2n)).toMatchObject({ bought: least, assumed: true });
  });
});

describe("what another swap of ours moved in the same transaction is not counted for this one", () => {
  const min = swap.terms?.amountOutMin ?? 0n;
  const paid = (amount: bigint) => transferLog({ token: WETH.address, from: POOL, to: WALLET, amount });
  const came = transferLog({ token: USDC.address, from: POOL, to: WALLET, amount: HUNDRED_USDC / 2n });
  const left = transferLog({ token: WETH.address, from: WALLET, to: POOL, amount: 2n * TENTH });
  const sameRecipient = { wallet: RELAYER, sell: USDC.address, recipient: WALLET, buy: WETH.address };
  const buysTheSold = { wallet: RELAYER, sell: WBTC.address, recipient: WALLET, buy: USDC.address };
  const sellsTheBought = { wallet: WALLET, sell: WETH.address, recipient: RELAYER, buy: WBTC.address };

  test.each([
    ["delivers to the same recipient", sameRecipient, [sale, paid(TENTH), paid(3n * TENTH)], TENTH],
    ["delivers there in parts", sameRecipient, [sale, paid(min - 1n), paid(min - 2n)], min],
    ["is paid together with this one", sameRecipient, [sale, paid(4n * TENTH)], min],
    ["buys what this one sells", buysTheSold, [sale, came, paid(TENTH)], TENTH],
    ["sells what this one buys", sellsTheBought, [sale, paid(TENTH), left], TENTH],
  ])("one that %s", (_what, other, logs, bought) => {
    const fill = measure({ logs, beside: [other] });
    expect(fill).toMatchObject({ sold: HUNDRED_USDC, bought });
    expect(fill).not.toHaveProperty("assumed");
  });

  test.each([
    ["is paid together with this one", [4n * TENTH], min],
    ["is paid by an unwrapping of its own", [4n * TENTH, TENTH], TENTH],
  ])("of coins, one that delivers to the same recipient and %s", (_what, payments, bought) => {
    const logs = [sale, ...payments.map((amount) => withdrawalLog(WETH.address, amount))];
    const fill = measure({ logs, beside: [{ ...sameRecipient, buy: ETH.address }] }, { buy: ETH });
    expect(fill).toMatchObject({ bought });
    expect(fill).not.toHaveProperty("assumed");
  });

  test("one that sells the same token of the wallet sold its own part of what left", () => {
    const sellsTheSame = { wallet: WALLET, sell: USDC.address, recipient: RELAYER, buy: WBTC.address };
    const fill = measure({ logs: [sale, sale, paid(TENTH)], beside: [sellsTheSame] });
    expect(fill).toMatchObject({ sold: HUNDRED_USDC, bought: TENTH });
    expect(fill).not.toHaveProperty("assumed");
  });

  test("one that delivers to the same recipient takes nothing off what came back to the wallet", () => {
    const back = transferLog({ token: USDC.address, from: ROUTER, to: WALLET, amount: 1_000n });
    const logs = [sale, back, paid(TENTH), paid(TENTH)];
    expect(measure({ logs, beside: [sameRecipient] }).sold).toBe(HUNDRED_USDC - 1_000n);
  });
});

describe("what owners of a Safe executed at once", () => {
  const since = { block: 90, nonce: 4n };
  const proposal = { version: "1.4.1", nonce: 5n, isBoundToNonce: true, since } as const;
  const { signatures } = swapIn("submitted", { mode: "gasless" });
  const asked = { proposal, signatures: signatures && { ...signatures, swapDigest: hash("5a") } };
  const words = "ExecutionSuccess(bytes32,uint256)";
  const executed = (digest: Hex, isIndexed = true) => ({
    ...{ address: WALLET, topics: [id(words) as Hex, ...(isIndexed ? [digest] : [])] },
    data: `${isIndexed ? "0x" : digest}${"0".repeat(64)}` as Hex,
  });
  const byModule = { address: WALLET, topics: [id("ExecutionFromModuleSuccess(address)") as Hex], data: "0x" } as const;
  const wages = transferLog({ token: USDC.address, from: WALLET, to: RELAYER, amount: 5_000_000_000n });
  const gift = transferLog({ token: WETH.address, from: RELAYER, to: WALLET, amount: TENTH });
  const own = { sold: HUNDRED_USDC, bought: TENTH };

  test.each([true, false])("is told apart by what was asked for, of all versions (indexed: %s)", (isIndexed) => {
    const logs = [wages, executed(hash("01"), isIndexed), sale, purchase, executed(hash("5a"), isIndexed)];
    const more = [gift, executed(hash("02"), isIndexed), wages];
    const fill = measure({ logs: [...logs, ...more] }, asked);
    expect(fill).toMatchObject(own);
    expect(fill).not.toHaveProperty("assumed");
  });

  test.each([
    ["sells the same", USDC.address],
    ["sells another token", WBTC.address],
  ])(
    "is all that its own execution brought, also beside another proposal of ours that buys the same and %s",
    (_, sell) => {
      const logs = [sale, purchase, executed(hash("5a")), sale, purchase, executed(hash("01"))];
      const beside = [{ wallet: WALLET, sell, recipient: WALLET, buy: WETH.address }];
      expect(measure({ logs, beside }, asked)).toMatchObject(own);
    },
  );

  test("is told apart by its amount where they chose another nonce, or a module executed it", () => {
    const elsewhere = [sale, purchase, executed(hash("03"))];
    expect(measure({ logs: [wages, executed(hash("01")), ...elsewhere] }, asked)).toMatchObject(own);
    expect(measure({ logs: [gift, byModule, sale, purchase, byModule, wages, byModule] }, asked)).toMatchObject(own);
  });

  test("is counted whole where it cannot be told apart, and what they put into the proposal itself is sold with it", () => {
    const twice = [sale, purchase, executed(hash("03")), sale, purchase, executed(hash("04"))];
    expect(measure({ logs: twice }, asked)).toMatchObject({ sold: 2n * HUNDRED_USDC, bought: 2n * TENTH });
    const alone = [sale, purchase, wages, executed(hash("5a"))];
    expect(measure({ logs: alone }, asked).sold).toBe(HUNDRED_USDC + 5_000_000_000n);
    expect(measure({ logs: [wages, executed(hash("01")), sale, purchase, executed(hash("5a"))] }).sold).not.toBe(
      HUNDRED_USDC,
    );
  });
});

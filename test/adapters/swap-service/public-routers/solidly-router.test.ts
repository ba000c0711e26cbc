import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../../src/domain/money/address.ts";
import { decode, denialOf, READ } from "./read-router-call.ts";
import {
  address,
  CALLER,
  CUSTODY,
  DAI,
  DEADLINE,
  ME,
  multicall,
  ROUTER,
  refund,
  single,
  sweep,
  THIEF,
  USDC,
  unwrap,
  v2,
  WETH,
} from "./router-calls.ts";
import { all, one } from "./slipstream-calls.ts";
import { call, coinsBought, coinsSold, FACTORY, FUNCTIONS, type Hop, hop, tokens } from "./solidly-calls.ts";

const OTHER = address("44");
const way: readonly Hop[] = [hop(USDC, WETH), hop(WETH, DAI, true)];

describe("what is read of a swap through Solidly's router", () => {
  it.each([
    ["one pool", tokens(), {}],
    ["a stable pool", tokens({ routes: [hop(USDC, DAI, true)] }), {}],
    ["a pool of the router's own factory", tokens({ routes: [hop(USDC, DAI, false, NATIVE_TOKEN)] }), {}],
    ["several pools of both sorts", tokens({ routes: way }), {}],
    ["the wrapped coin bought", tokens({ routes: [hop(USDC, WETH)] }), { toAsset: WETH }],
    ["native coins bought", coinsBought(), { toAsset: NATIVE_TOKEN }],
    [
      "native coins bought over several pools",
      coinsBought({ routes: [hop(USDC, DAI), hop(DAI, WETH)] }),
      { toAsset: NATIVE_TOKEN },
    ],
  ])("%s", (_name, data, read) => {
    expect(decode(data)).toEqual({ ok: true, swap: { ...READ, ...read } });
  });

  it("native coins sold, as many as are sent along", () => {
    const sold = { ...READ, fromAsset: NATIVE_TOKEN };
    expect(decode(coinsSold(), 100n)).toEqual({ ok: true, swap: sold });
    expect(decode(coinsSold({ routes: [hop(WETH, USDC), hop(USDC, DAI)] }), 7n)).toEqual({
      ...{ ok: true, swap: { ...sold, amountIn: 7n } },
    });
  });

  test("any way of the pinned form is read as what it says, whoever encodes it", () => {
    const amount = fc.bigInt({ min: 1n, max: 2n ** 255n });
    const between = fc.uniqueArray(fc.constantFrom(...["11", "22", "33", "44"].map(address)), { maxLength: 3 });
    fc.assert(
      fc.property(between, amount, amount, fc.boolean(), (via, amountIn, minimum, stable) => {
        const passed = [USDC, ...via, DAI];
        const routes = passed.slice(1).map((to, index) => hop(passed[index]!, to, stable));
        const read = { ...READ, amountIn, amountOutMin: minimum };
        expect(decode(tokens({ amountIn, minimum, routes }))).toEqual({ ok: true, swap: read });
      }),
    );
  });
});

const SHORT = "";
const nine = [..."123456789"].map((digit) => address(`${digit}${digit}`));
const long = [USDC, ...nine, DAI];

/** Every trap of the router, and every other way to say less than the pinned form does. */
const HOSTILE: readonly (readonly [name: string, data: Hex, value?: bigint])[] = [
  ["the short form, whose minimum is compared with what pools say beforehand", tokens({}, SHORT)],
  ["the short form over several pools", tokens({ routes: way }, SHORT)],
  ["the short form that sells coins", coinsSold({}, SHORT), 100n],
  ["the short form that buys coins", coinsBought({}, SHORT)],
  [
    "the form without any minimum",
    call("UNSAFE_swapExactTokensForTokens", [100n, 90n], [hop(USDC, DAI)], ME, DEADLINE),
  ],
  ["no pools at all", tokens({ routes: [] })],
  ["no pools at all for coins", coinsSold({ routes: [] }), 100n],
  ["no pools at all to coins", coinsBought({ routes: [] })],
  [
    "a way that breaks off: what it brought stays in a pool for anybody",
    tokens({ routes: [hop(USDC, WETH), hop(OTHER, DAI)] }),
  ],
  ["a way that breaks off at its end", tokens({ routes: [hop(USDC, WETH), hop(WETH, OTHER), hop(USDC, DAI)] })],
  ["a way of two that have nothing to do with each other", tokens({ routes: [hop(USDC, WETH), hop(USDC, DAI)] })],
  ["a way that breaks off before coins", coinsBought({ routes: [hop(USDC, DAI), hop(OTHER, WETH)] })],
  ["a way of coins that breaks off", coinsSold({ routes: [hop(WETH, USDC), hop(OTHER, DAI)] }), 100n],
  ["a way that is turned round within", tokens({ routes: [hop(WETH, USDC), hop(WETH, DAI)] })],
  ["a circle", tokens({ routes: [hop(USDC, WETH), hop(WETH, USDC)] })],
  ["a token met twice", tokens({ routes: [hop(USDC, WETH), hop(WETH, OTHER), hop(OTHER, WETH), hop(WETH, DAI)] })],
  ["a token for itself", tokens({ routes: [hop(USDC, USDC)] })],
  ["more pools than any route has", tokens({ routes: long.slice(1).map((to, index) => hop(long[index]!, to)) })],
  ["an amount of 0", tokens({ amountIn: 0n })],
  ["an amount of 0 over several pools", tokens({ amountIn: 0n, routes: way })],
  ["an amount of 0 for coins", coinsBought({ amountIn: 0n })],
  ["a minimum of 0", tokens({ minimum: 0n })],
  ["a minimum of 0 over several pools", tokens({ minimum: 0n, routes: way })],
  ["a minimum of 0 where coins are sold", coinsSold({ minimum: 0n }), 100n],
  ["a minimum of 0 where coins are bought", coinsBought({ minimum: 0n })],
  ["nobody as the recipient", tokens({ to: NATIVE_TOKEN })],
  ["nobody as the recipient of coins", coinsBought({ to: NATIVE_TOKEN })],
  ["nobody as the recipient of what coins buy", coinsSold({ to: NATIVE_TOKEN }), 100n],
  ["the router as the recipient, where anybody takes it", tokens({ to: ROUTER })],
  ["the router as the recipient of coins", coinsBought({ to: ROUTER })],
  ["the router as the recipient of what coins buy", coinsSold({ to: ROUTER }), 100n],
  ["another router's sentinel of the caller as the recipient, which is an account here", tokens({ to: CALLER })],
  ["another router's sentinel of itself as the recipient", tokens({ to: CUSTODY })],
  ["that sentinel as the recipient of coins", coinsBought({ to: CUSTODY })],
  ["the zero address bought, which would be read as native coins", tokens({ routes: [hop(USDC, NATIVE_TOKEN)] })],
  ["the zero address sold", tokens({ routes: [hop(NATIVE_TOKEN, DAI)] })],
  ["the zero address sold, with native coins", coinsSold({ routes: [hop(NATIVE_TOKEN, DAI)] }), 100n],
  ["the zero address on the way", tokens({ routes: [hop(USDC, NATIVE_TOKEN), hop(NATIVE_TOKEN, DAI)] })],
  ["coins bought by a way that ends in a token", coinsBought({ routes: [hop(USDC, DAI)] })],
  ["coins sold by a way that begins with a token", coinsSold({ routes: [hop(USDC, DAI)] }), 100n],
  ["coins sold, and none sent along", coinsSold()],
  ["coins sold to coins", coinsSold({ routes: [hop(WETH, USDC), hop(USDC, WETH)] }), 100n],
  ["native coins for a sale of tokens", tokens(), 100n],
  ["native coins for a sale of the wrapped coin", tokens({ routes: [hop(WETH, DAI)] }), 100n],
  ["native coins for a purchase of coins", coinsBought(), 100n],
  [
    "native coins for a purchase of coins, as many as are sold",
    coinsBought({ routes: [hop(WETH, USDC), hop(USDC, WETH)] }),
    100n,
  ],
  ["bytes behind the end", `${tokens()}00`],
  ["a word behind the end", `${tokens()}${"0".repeat(64)}`],
  ["a word behind the end of a sale of coins", `${coinsSold()}${"0".repeat(64)}`, 100n],
  ["an account behind the end, as a forwarder would name a sender", `${tokens()}${THIEF.slice(2)}` as Hex],
  ["cut calldata", tokens().slice(0, -64) as Hex],
  ["no calldata but the selector", tokens().slice(0, 10) as Hex],
  [
    "a truth that is 2",
    tokens({ routes: [hop(USDC, DAI, true)] }).replace(/0{63}1(?=0{24}fa)/, `${"0".repeat(63)}2`) as Hex,
  ],
  [
    "bytes before an address",
    tokens().replace(`${"0".repeat(24)}${DAI.slice(2)}`, `${"0".repeat(23)}1${DAI.slice(2)}`) as Hex,
  ],
  ["a multicall of it", all(tokens())],
  ["a multicall of it under one deadline", multicall(tokens())],
  ["a leg of another router beside it", all(one(), tokens())],
  ["a leg in the form of another router", single()],
  ["pairs of another router", v2([USDC, DAI])],
  ["liquidity for a pool", call("addLiquidity", USDC, DAI, false, 100n, 100n, 1n, 1n, ME, DEADLINE)],
  ["coins for a pool", call("addLiquidityETH", USDC, false, 100n, 1n, 1n, ME, DEADLINE), 100n],
  ["liquidity out of a pool", call("removeLiquidity", USDC, DAI, false, 100n, 1n, 1n, ME, DEADLINE)],
  ["a sweep of another router", sweep()],
  ["an unwrapping of another router", unwrap()],
  ["a refund of another router", refund],
  ["a selector that nobody knows", "0x12345678"],
];

describe("what is read of it, and is not what was asked for", () => {
  it("is the only thing that is denied: the swap itself passes, in each of its forms", () => {
    for (const data of [tokens(), tokens({ routes: way })]) expect(denialOf(data)).toBeUndefined();
  });

  it.each<[name: string, code: string, data: Hex, envelope?: { value?: bigint; to?: Address }]>([
    ["a thief is paid", "RECIPIENT_MISMATCH", tokens({ to: THIEF })],
    ["a thief is paid over several pools", "RECIPIENT_MISMATCH", tokens({ routes: way, to: THIEF })],
    ["a factory is paid", "RECIPIENT_MISMATCH", tokens({ to: FACTORY })],
    ["one unit more is sold", "AMOUNT_MISMATCH", tokens({ amountIn: 101n })],
    ["one unit less is sold", "AMOUNT_MISMATCH", tokens({ amountIn: 99n })],
    ["the minimum is one unit lower", "OUTPUT_BELOW_MINIMUM", tokens({ minimum: 89n })],
    ["another token is bought", "TOKEN_MISMATCH", tokens({ routes: [hop(USDC, WETH)] })],
    ["another token is sold", "TOKEN_MISMATCH", tokens({ routes: [hop(WETH, DAI)] })],
    ["the pair is turned round", "TOKEN_MISMATCH", tokens({ routes: [hop(DAI, USDC)] })],
    ["native coins are paid instead", "TOKEN_MISMATCH", coinsBought()],
    ["native coins are sold instead", "VALUE_MISMATCH", coinsSold(), { value: 100n }],
    ["the deadline is past", "DEADLINE_OUT_OF_BOUNDS", tokens({ deadline: DEADLINE - 61n })],
    ["the deadline is far", "DEADLINE_OUT_OF_BOUNDS", tokens({ deadline: DEADLINE + 86_400n })],
    ["there is a deadline for ever", "DEADLINE_OUT_OF_BOUNDS", tokens({ deadline: 2n ** 256n - 1n })],
    ["another contract is called", "TARGET_NOT_PINNED", tokens(), { to: THIEF }],
  ])("%s: %s", (_name, code, data, envelope) => {
    expect(denialOf(data, envelope)).toBe(code);
  });
});

describe("what is refused of Solidly's router", () => {
  test("is at least sixty ways", () => {
    expect(HOSTILE.length).toBeGreaterThanOrEqual(60);
    expect(new Set(HOSTILE.map(([name]) => name)).size).toBe(HOSTILE.length);
    expect(new Set(HOSTILE.map(([, data, value]) => `${data} ${value}`)).size).toBe(HOSTILE.length);
  });

  it.each(HOSTILE.map(([name, data, value = 0n]) => ({ name, data, value })))("$name", ({ data, value }) => {
    expect(decode(data, value)).toEqual({ ok: false, problem: expect.stringMatching(/.{10}/) });
  });

  const taken = [tokens(), coinsSold(), coinsBought()].map((data) => data.slice(0, 10));
  const others = FUNCTIONS.fragments.flatMap((fragment) => {
    const name = fragment.format("sighash");
    const selector = FUNCTIONS.getFunction(name)?.selector as Hex;
    return taken.includes(selector) ? [] : [{ name, selector }];
  });

  it.each(others)("$name, with the arguments of a swap", ({ selector }) => {
    for (const data of [tokens(), coinsSold(), coinsBought()])
      expect(decode(`${selector}${data.slice(10)}`)).toMatchObject({ ok: false });
  });

  test("no single changed byte of a swap is read as the same swap", () => {
    const data = tokens({ routes: way });
    const whole = decode(data);
    expect(whole.ok).toBe(true);
    // Which pools they are, and what lies between the two tokens, is bound by simulation and minimum alone.
    const isPool = (at: number): boolean => {
      const word = Math.floor((at - 10) / 64) - 6;
      return word >= 0 && word % 4 !== 0 && word !== 5;
    };
    for (let at = 2; at < data.length; at += 2) {
      const byte = (Number.parseInt(data.slice(at, at + 2), 16) ^ 0x01).toString(16).padStart(2, "0");
      const changed = decode(`${data.slice(0, at)}${byte}${data.slice(at + 2)}` as Hex);
      if (changed.ok && whole.ok && !isPool(at)) expect(changed.swap, `byte ${at / 2 - 1}`).not.toEqual(whole.swap);
    }
  });
});

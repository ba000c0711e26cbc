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
  pathOf,
  ROUTER,
  single,
  THIEF,
  USDC,
  v2,
  WETH,
} from "./router-calls.ts";
import { all, coinsKept, FUNCTIONS, kept, one, refunded, several, slip, swept, unwrapped } from "./slipstream-calls.ts";

const way = pathOf(USDC, 100, WETH, 200, DAI);
const part = (amountIn: bigint, more = {}) => ({ ...kept, amountIn, ...more });
const signature = [27, `0x${"1".repeat(64)}`, `0x${"2".repeat(64)}`] as const;

describe("what is read of a swap through Slipstream's router", () => {
  it.each([
    ["one pool", all(one()), {}],
    ["a pool with the widest spacing", all(one({ spacing: 2_000 })), {}],
    ["several pools", all(several(way)), {}],
    ["a split", all(one(part(60n)), several(way, part(40n)), swept()), { amountOutMin: 180n }],
    ["one leg into custody", all(one(kept), swept()), { amountOutMin: 180n }],
    ["native coins bought", all(coinsKept(), unwrapped()), { toAsset: NATIVE_TOKEN, amountOutMin: 180n }],
  ])("%s", (_name, data, read) => {
    expect(decode(data)).toEqual({ ok: true, swap: { ...READ, ...read } });
  });

  it("native coins sold in one leg, to the wei that is sent along", () => {
    const sold = { ok: true, swap: { ...READ, fromAsset: NATIVE_TOKEN } };
    expect(decode(all(one({ tokenIn: WETH }), refunded), 100n)).toEqual(sold);
    expect(decode(all(several(pathOf(WETH, 100, USDC, 1, DAI)), refunded), 100n)).toEqual(sold);
  });

  test("any split of the pinned form is read as what it says, whoever encodes it", () => {
    const amount = fc.bigInt({ min: 1n, max: 2n ** 128n });
    const between = fc.uniqueArray(fc.constantFrom(...["11", "22", "33", "44"].map(address)), { maxLength: 3 });
    const leg = fc.record({ between, amountIn: amount, spacing: fc.constantFrom(1, 50, 100, 200, 2_000) });
    fc.assert(
      fc.property(fc.array(leg, { minLength: 1, maxLength: 16 }), amount, (legs, minimum) => {
        const encoded = legs.map(({ between: via, amountIn, spacing }) => {
          if (via.length === 0) return one(part(amountIn, { spacing }));
          return several(pathOf(USDC, ...via.flatMap((token) => [spacing, token]), spacing, DAI), part(amountIn));
        });
        const amountIn = legs.reduce((sum, { amountIn: own }) => sum + own, 0n);
        const read = { ...READ, amountIn, amountOutMin: minimum };
        expect(decode(all(...encoded, swept(DAI, minimum)))).toEqual({ ok: true, swap: read });
      }),
    );
  });
});

/** Every trap of the router, and every other way to say less than the pinned form does. */
const HOSTILE: readonly (readonly [name: string, data: Hex, value?: bigint])[] = [
  ["a swap that is no multicall", one()],
  ["a swap over several pools that is no multicall", several(way)],
  ["a multicall of nothing", all()],
  ["a multicall in a multicall", all(all(one()))],
  ["bytes behind the end", `${all(one())}00`],
  ["a word behind the end", `${all(one())}${"0".repeat(64)}`],
  ["bytes behind the end of an inner call", all(`${one()}00`)],
  ["an empty inner call", all("0x")],
  ["cut calldata", all(one()).slice(0, -64) as Hex],
  ["an exact output", all(slip("exactOutputSingle", [USDC, DAI, 100, ME, DEADLINE, 90n, 100n, 0n]))],
  ["an exact output over several pools", all(slip("exactOutput", [way, ME, DEADLINE, 90n, 100n]))],
  ["an amount of 0", all(one({ amountIn: 0n }))],
  ["an amount of 0 over several pools", all(several(way, { amountIn: 0n }))],
  ["an amount of 0 in one leg of a split", all(one(kept), one(part(0n)), swept())],
  ["a price limit, at which the sale stops", all(one({ limit: 1n }))],
  ["a price limit in custody", all(one({ ...kept, limit: 2n ** 100n }), swept())],
  [
    "a leg of a split that may come later than the others",
    all(one(part(60n)), one(part(40n, { deadline: DEADLINE + 1n })), swept()),
  ],
  ["a leg of a split that is due earlier", all(one(part(60n, { deadline: DEADLINE - 1n })), one(part(40n)), swept())],
  ["a leg of a split for ever", all(one(part(60n)), several(way, part(40n, { deadline: 2n ** 256n - 1n })), swept())],
  ["nobody as the recipient, by which the router means itself", all(one({ recipient: NATIVE_TOKEN }))],
  ["nobody as the recipient over several pools", all(several(way, { recipient: NATIVE_TOKEN }))],
  ["custody without a sweep", all(one(kept))],
  ["the router as the recipient, by its address", all(one({ recipient: ROUTER }))],
  ["the router's address for custody", all(one({ ...kept, recipient: ROUTER }), swept())],
  ["another router's sentinel for custody", all(one({ ...kept, recipient: CUSTODY }), swept())],
  [
    "another router's sentinel of the caller as the recipient, which is an account here",
    all(one({ recipient: CALLER })),
  ],
  ["another router's sentinel of itself as the recipient, which is an account here", all(one({ recipient: CUSTODY }))],
  ["a sweep to nobody", all(one(kept), swept(DAI, 180n, NATIVE_TOKEN))],
  ["a sweep to the router", all(one(kept), swept(DAI, 180n, ROUTER))],
  ["a sweep to an account that stands for others elsewhere", all(one(kept), swept(DAI, 180n, CALLER))],
  ["native coins to nobody", all(coinsKept(), unwrapped(180n, NATIVE_TOKEN))],
  ["native coins to the router", all(coinsKept(), unwrapped(180n, ROUTER))],
  ["a minimum of 0", all(one({ minimum: 0n }))],
  ["a minimum of 0 over several pools", all(several(way, { minimum: 0n }))],
  ["a sweep with a minimum of 0", all(one(kept), swept(DAI, 0n))],
  ["an unwrapping with a minimum of 0", all(coinsKept(), unwrapped(0n))],
  ["two legs that pay the recipient: neither minimum binds the sum", all(one(), one())],
  ["a leg that pays a thief before the sweep", all(one({ ...kept, recipient: THIEF }), swept())],
  ["a leg that pays the recipient before the sweep", all(one({ ...kept, recipient: ME }), swept())],
  ["a leg with a minimum of its own before the sweep", all(one({ ...kept, minimum: 1n }), swept())],
  ["legs that sell different tokens", all(one(kept), one({ ...kept, tokenIn: WETH }), swept())],
  ["legs that buy different tokens", all(one(kept), one({ ...kept, tokenOut: WETH }), swept())],
  ["a sweep of another token", all(one(kept), swept(WETH))],
  ["an unwrapping of what is no wrapped coin", all(one(kept), unwrapped())],
  ["a sweep before the leg", all(swept(), one(kept))],
  ["a leg after the sweep", all(one(kept), swept(), one(kept))],
  ["two sweeps", all(one(kept), swept(), swept())],
  ["a sweep and an unwrapping", all(coinsKept(), swept(WETH), unwrapped())],
  ["a sweep alone", all(swept())],
  ["a refund alone", all(refunded), 100n],
  ["a sweep with a fee", all(one(kept), slip("sweepTokenWithFee", DAI, 180n, ME, 100n, THIEF))],
  ["an unwrapping with a fee", all(coinsKept(), slip("unwrapWETH9WithFee", 180n, ME, 100n, THIEF))],
  ["a permit of its own", all(slip("selfPermit", USDC, 100n, DEADLINE, ...signature), one())],
  ["a permit for all", all(slip("selfPermitAllowed", USDC, 0n, DEADLINE, ...signature), one())],
  ["a callback", all(slip("uniswapV3SwapCallback", 1n, -1n, "0x"))],
  ["a view among the legs", all(slip("factory"), one())],
  ["native coins for a sale of tokens", all(one()), 100n],
  ["native coins for a sale of tokens, with a refund", all(one(), refunded), 100n],
  ["more native coins than are sold", all(one({ tokenIn: WETH }), refunded), 101n],
  [
    "fewer native coins than are sold: the router would take tokens instead",
    all(one({ tokenIn: WETH }), refunded),
    99n,
  ],
  ["native coins without a refund", all(one({ tokenIn: WETH })), 100n],
  [
    "native coins in two legs: the first gives back what the second sells, which then takes wrapped coins of ours",
    all(one(part(60n, { tokenIn: WETH })), one(part(40n, { tokenIn: WETH })), swept(), refunded),
    100n,
  ],
  ["a refund before the leg", all(refunded, one({ tokenIn: WETH })), 100n],
  ["a refund where nothing is sent along", all(one(), refunded)],
  ["two refunds", all(one({ tokenIn: WETH }), refunded, refunded), 100n],
  ["a path that ends in the middle of a token", all(several(way.slice(0, -2) as Hex))],
  ["a path of one token", all(several(pathOf(USDC)))],
  ["an empty path", all(several("0x"))],
  ["a path that meets a token twice", all(several(pathOf(USDC, 1, WETH, 1, USDC, 1, DAI)))],
  ["a circle", all(several(pathOf(USDC, 1, WETH, 1, USDC)))],
  [
    "more tokens than any route has",
    all(several(pathOf(USDC, ...[..."123456789"].flatMap((digit) => [1, address(`${digit}${digit}`)]), 1, DAI))),
  ],
  ["more legs than any route has", all(...Array.from({ length: 17 }, () => one(kept)), swept())],
  ["the zero address bought, which would be read as native coins", all(one({ tokenOut: NATIVE_TOKEN }))],
  ["the zero address sold, with native coins", all(one({ tokenIn: NATIVE_TOKEN }), refunded), 100n],
  ["the zero address on the way", all(several(pathOf(USDC, 1, NATIVE_TOKEN, 1, DAI)))],
  ["a token for itself", all(one({ tokenOut: USDC }))],
  ["a leg in the form of another router, without a deadline", all(single())],
  ["pairs of another router", all(v2([USDC, DAI]))],
  [
    "a leg of its own beside one in another router's form",
    all(one(part(60n)), single({ amountIn: 40n, recipient: CUSTODY, minimum: 0n }), swept()),
  ],
  ["a leg of its own in another router's multicall", multicall(one())],
  ["a selector that nobody knows", all("0x12345678")],
];

describe("what is read of it, and is not what was asked for", () => {
  const parts = (first: bigint, second: bigint): Hex => all(one(part(first)), several(way, part(second)), swept());

  it("is the only thing that is denied: the swap itself passes, in each of its forms", () => {
    for (const data of [all(one()), all(several(way)), parts(60n, 40n)]) expect(denialOf(data)).toBeUndefined();
  });

  it.each<[name: string, code: string, data: Hex, envelope?: { value?: bigint; to?: Address }]>([
    ["a thief is paid", "RECIPIENT_MISMATCH", all(one({ recipient: THIEF }))],
    ["a thief is paid over several pools", "RECIPIENT_MISMATCH", all(several(way, { recipient: THIEF }))],
    ["the sweep pays a thief", "RECIPIENT_MISMATCH", all(one(kept), swept(DAI, 90n, THIEF))],
    ["one unit more is sold", "AMOUNT_MISMATCH", all(one({ amountIn: 101n }))],
    ["one unit less is sold", "AMOUNT_MISMATCH", all(several(way, { amountIn: 99n }))],
    ["the parts are one unit too much", "AMOUNT_MISMATCH", parts(60n, 41n)],
    ["the parts add up only where words run over", "AMOUNT_MISMATCH", parts(2n ** 256n - 1n, 101n)],
    ["the minimum is one unit lower", "OUTPUT_BELOW_MINIMUM", all(one({ minimum: 89n }))],
    ["the sweep's minimum is one unit lower", "OUTPUT_BELOW_MINIMUM", all(one(kept), swept(DAI, 89n))],
    ["another token is bought", "TOKEN_MISMATCH", all(one({ tokenOut: WETH }))],
    ["another token is sold", "TOKEN_MISMATCH", all(one({ tokenIn: WETH }))],
    ["the pair is turned round", "TOKEN_MISMATCH", all(one({ tokenIn: DAI, tokenOut: USDC }))],
    ["native coins are paid instead", "TOKEN_MISMATCH", all(coinsKept(), unwrapped())],
    ["native coins are sold instead", "VALUE_MISMATCH", all(one({ tokenIn: WETH }), refunded), { value: 100n }],
    ["the deadline is past", "DEADLINE_OUT_OF_BOUNDS", all(one({ deadline: DEADLINE - 61n }))],
    ["the deadline is far", "DEADLINE_OUT_OF_BOUNDS", all(one({ deadline: DEADLINE + 86_400n }))],
    ["there is a deadline for ever", "DEADLINE_OUT_OF_BOUNDS", all(several(way, { deadline: 2n ** 256n - 1n }))],
    ["another contract is called", "TARGET_NOT_PINNED", all(one()), { to: THIEF }],
  ])("%s: %s", (_name, code, data, envelope) => {
    expect(denialOf(data, envelope)).toBe(code);
  });
});

describe("what is refused of Slipstream's router", () => {
  test("is at least sixty ways", () => {
    expect(HOSTILE.length).toBeGreaterThanOrEqual(60);
    expect(new Set(HOSTILE.map(([name]) => name)).size).toBe(HOSTILE.length);
  });

  it.each(HOSTILE.map(([name, data, value = 0n]) => ({ name, data, value })))("$name", ({ data, value }) => {
    expect(decode(data, value)).toEqual({ ok: false, problem: expect.stringMatching(/.{10}/) });
  });

  const taken = [one(), several(way), swept(), unwrapped(), refunded, all()].map((data) => data.slice(0, 10));
  const others = FUNCTIONS.fragments.flatMap((fragment) => {
    const name = fragment.format("sighash");
    const selector = FUNCTIONS.getFunction(name)?.selector as Hex;
    return taken.includes(selector) ? [] : [{ name, selector }];
  });

  it.each(others)("$name, as a call of its own and within a swap, with whatever arguments", ({ selector }) => {
    const words = [USDC, DAI, THIEF].map((token) => token.slice(2).padStart(64, "0")).join("");
    const inner: Hex = `${selector}${words}`;
    for (const data of [inner, all(inner), all(one(kept), inner, swept()), all(one(), inner)])
      expect(decode(data)).toMatchObject({ ok: false });
  });

  test("no single changed byte of a swap is read as the same swap", () => {
    const data = all(one(part(60n)), several(way, part(40n)), swept());
    const whole = decode(data);
    expect(whole.ok).toBe(true);
    const spacing = data.indexOf((100).toString(16).padStart(64, "0"));
    const inPath = data.indexOf(way.slice(2));
    for (let at = 2; at < data.length; at += 2) {
      const byte = (Number.parseInt(data.slice(at, at + 2), 16) ^ 0x01).toString(16).padStart(2, "0");
      const changed = decode(`${data.slice(0, at)}${byte}${data.slice(at + 2)}` as Hex);
      // Which pools they are, and what lies between the two tokens, is bound by simulation and minimum alone.
      const isPool = (at >= spacing && at < spacing + 64) || (at >= inPath + 40 && at < inPath + 92);
      if (changed.ok && whole.ok && !isPool) expect(changed.swap, `byte ${at / 2 - 1}`).not.toEqual(whole.swap);
    }
  });
});

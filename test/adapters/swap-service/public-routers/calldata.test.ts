import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { publicRoutersProfile } from "../../../../src/adapters/swap-service/public-routers/service.ts";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../../src/domain/money/address.ts";
import { decode, denialOf, READ } from "./read-router-call.ts";
import {
  address,
  CALLER,
  CUSTODY,
  call,
  custody,
  DAI,
  DEADLINE,
  ME,
  multicall,
  PINNED,
  pathOf,
  ROUTER,
  refund,
  single,
  sweep,
  THIEF,
  USDC,
  unwrap,
  v2,
  v3,
  WETH,
} from "./router-calls.ts";

describe("what is read of a swap through a public router", () => {
  it.each([
    ["one pool", multicall(single()), {}],
    ["several pools of the third version", multicall(v3(pathOf(USDC, 500, WETH, 3_000, DAI))), {}],
    ["several pairs of the second version", multicall(v2([USDC, WETH, DAI])), {}],
    [
      "a split over both versions",
      multicall(single({ ...custody, amountIn: 60n }), v2([USDC, WETH, DAI], { ...custody, amountIn: 40n }), sweep()),
      { amountOutMin: 180n },
    ],
    ["one leg into custody", multicall(single(custody), sweep()), { amountOutMin: 180n }],
    [
      "native coins bought",
      multicall(single({ ...custody, tokenOut: WETH }), unwrap()),
      { toAsset: NATIVE_TOKEN, amountOutMin: 180n },
    ],
  ])("%s", (_name, data, read) => {
    expect(decode(data)).toEqual({ ok: true, swap: { ...READ, ...read } });
  });

  it("native coins sold, to the wei that is sent along", () => {
    const sold = multicall(single({ tokenIn: WETH }), refund);
    expect(decode(sold, 100n)).toEqual({ ok: true, swap: { ...READ, fromAsset: NATIVE_TOKEN } });
    const split = multicall(
      single({ ...custody, tokenIn: WETH, amountIn: 60n }),
      v2([WETH, DAI], { ...custody, amountIn: 40n }),
      sweep(),
      refund,
    );
    expect(decode(split, 100n)).toMatchObject({ ok: true, swap: { fromAsset: NATIVE_TOKEN, amountIn: 100n } });
  });

  it("the wrapped coin stays a token where nothing is sent along", () => {
    expect(decode(multicall(single({ tokenIn: WETH })))).toMatchObject({ ok: true, swap: { fromAsset: WETH } });
  });
});

describe("any swap of the pinned form is read as what it says, whoever encodes it", () => {
  const amount = fc.bigInt({ min: 1n, max: 2n ** 128n });
  const token = fc.constantFrom(...["11", "22", "33", "44", "55"].map(address));
  const between = fc.uniqueArray(token, { maxLength: 3 });
  const leg = fc.record({ between, isV2: fc.boolean(), amountIn: amount, fee: fc.constantFrom(100, 500, 3_000) });
  const encode = (one: LegOf, to: { recipient: Address; minimum: bigint }): Hex => encodeBetween([USDC, DAI], one, to);
  const encodeBetween = (
    [from, into]: readonly [Address, Address],
    { between: via, isV2, amountIn, fee }: LegOf,
    to: { recipient: Address; minimum: bigint },
  ): Hex => {
    if (isV2) return v2([from, ...via, into], { ...to, amountIn });
    if (via.length === 0) return single({ ...to, tokenIn: from, tokenOut: into, fee, amountIn });
    return v3(pathOf(from, ...via.flatMap((one) => [fee, one]), fee, into), { ...to, amountIn });
  };
  type LegOf = { between: Address[]; isV2: boolean; amountIn: bigint; fee: number };

  test("splits and single ways", () => {
    fc.assert(
      fc.property(fc.array(leg, { minLength: 1, maxLength: 16 }), amount, (legs, minimum) => {
        const amountIn = legs.reduce((sum, one) => sum + one.amountIn, 0n);
        const expected = { ok: true, swap: { ...READ, amountIn, amountOutMin: minimum } };
        const swept = multicall(...legs.map((one) => encode(one, custody)), sweep(DAI, minimum));
        expect(decode(swept)).toEqual(expected);
        if (legs.length > 1) return;
        const direct = multicall(...legs.map((one) => encode(one, { recipient: ME, minimum })));
        expect(decode(direct)).toEqual(expected);
      }),
    );
  });

  test("native coins in and out", () => {
    fc.assert(
      fc.property(fc.array(leg, { minLength: 1, maxLength: 16 }), amount, (legs, minimum) => {
        const amountIn = legs.reduce((sum, one) => sum + one.amountIn, 0n);
        const read = { ...READ, amountIn, amountOutMin: minimum };
        const into = (to: typeof custody, tokens: [Address, Address]) =>
          legs.map((one) => encodeBetween(tokens, one, to));
        const bought = multicall(...into(custody, [USDC, WETH]), unwrap(minimum));
        expect(decode(bought)).toEqual({ ok: true, swap: { ...read, toAsset: NATIVE_TOKEN } });
        const sold = multicall(...into(custody, [WETH, DAI]), sweep(DAI, minimum), refund);
        expect(decode(sold, amountIn)).toEqual({ ok: true, swap: { ...read, fromAsset: NATIVE_TOKEN } });
        expect(decode(sold, amountIn - 1n)).toMatchObject({ ok: false });
        if (legs.length > 1) return;
        const direct = multicall(...into({ recipient: ME, minimum }, [WETH, DAI]), refund);
        expect(decode(direct, amountIn)).toEqual({ ok: true, swap: { ...read, fromAsset: NATIVE_TOKEN } });
      }),
    );
  });
});

/** Every trap of the router, and every other way to say less than the pinned form does. */
const HOSTILE: readonly (readonly [name: string, data: Hex, value?: bigint])[] = [
  ["a swap without a deadline: no multicall", single()],
  ["multicall without a deadline", call("multicall(bytes[])", [single()])],
  [
    "multicall with a block's hash for a deadline",
    call("multicall(bytes32,bytes[])", `0x${"1".repeat(64)}`, [single()]),
  ],
  ["a multicall of nothing", multicall()],
  ["a multicall in a multicall", multicall(multicall(single()))],
  ["bytes behind the end", `${multicall(single())}00`],
  ["a word behind the end", `${multicall(single())}${"0".repeat(64)}`],
  ["bytes behind the end of an inner call", multicall(`${single()}00`)],
  ["an empty inner call", multicall("0x")],
  ["cut calldata", multicall(single()).slice(0, -64) as Hex],
  ["an exact output", multicall(call("exactOutputSingle", [USDC, DAI, 500, ME, 90n, 100n, 0n]))],
  ["an exact output over several pools", multicall(call("exactOutput", [pathOf(DAI, 500, USDC), ME, 90n, 100n]))],
  ["an exact output of pairs", multicall(call("swapTokensForExactTokens", 90n, 100n, [USDC, DAI], ME))],
  ["an amount of 0, which means all that the router holds", multicall(single({ amountIn: 0n }))],
  ["an amount of 0 over several pools", multicall(v3(pathOf(USDC, 500, DAI), { amountIn: 0n }))],
  ["an amount of 0 over pairs", multicall(v2([USDC, DAI], { amountIn: 0n }))],
  ["an amount of 0 in one leg of a split", multicall(single(custody), single({ ...custody, amountIn: 0n }), sweep())],
  ["a price limit, at which the sale stops", multicall(single({ limit: 1n }))],
  ["a price limit in custody", multicall(single({ ...custody, limit: 2n ** 100n }), sweep())],
  ["the caller as the recipient, by its sentinel", multicall(single({ recipient: CALLER }))],
  ["custody without a sweep", multicall(single({ recipient: CUSTODY }))],
  ["the router as the recipient, by its address", multicall(single({ recipient: ROUTER }))],
  ["nobody as the recipient", multicall(single({ recipient: NATIVE_TOKEN }))],
  ["a sweep to the sentinel of the caller", multicall(single(custody), sweep(DAI, 180n, CALLER))],
  ["a sweep to the sentinel of the router", multicall(single(custody), sweep(DAI, 180n, CUSTODY))],
  ["a sweep to the router", multicall(single(custody), sweep(DAI, 180n, ROUTER))],
  ["a sweep to nobody", multicall(single(custody), sweep(DAI, 180n, NATIVE_TOKEN))],
  [
    "native coins to the sentinel of the caller",
    multicall(single({ ...custody, tokenOut: WETH }), unwrap(180n, CALLER)),
  ],
  ["a minimum of 0", multicall(single({ minimum: 0n }))],
  ["a minimum of 0 over several pools", multicall(v3(pathOf(USDC, 500, DAI), { minimum: 0n }))],
  ["a minimum of 0 over pairs", multicall(v2([USDC, DAI], { minimum: 0n }))],
  ["a sweep with a minimum of 0", multicall(single(custody), sweep(DAI, 0n))],
  ["an unwrapping with a minimum of 0", multicall(single({ ...custody, tokenOut: WETH }), unwrap(0n))],
  ["two legs that pay the recipient: neither minimum binds the sum", multicall(single(), single())],
  ["a leg that pays a thief before the sweep", multicall(single({ ...custody, recipient: THIEF }), sweep())],
  ["a leg that pays the recipient before the sweep", multicall(single({ ...custody, recipient: ME }), sweep())],
  ["a leg with a minimum of its own before the sweep", multicall(single({ ...custody, minimum: 1n }), sweep())],
  ["legs that sell different tokens", multicall(single(custody), single({ ...custody, tokenIn: WETH }), sweep())],
  ["legs that buy different tokens", multicall(single(custody), single({ ...custody, tokenOut: WETH }), sweep())],
  ["a sweep of another token", multicall(single(custody), sweep(WETH))],
  ["an unwrapping of what is no wrapped coin", multicall(single(custody), unwrap())],
  ["a sweep before the leg", multicall(sweep(), single(custody))],
  ["a leg after the sweep", multicall(single(custody), sweep(), single(custody))],
  ["two sweeps", multicall(single(custody), sweep(), sweep())],
  ["a sweep and an unwrapping", multicall(single({ ...custody, tokenOut: WETH }), sweep(WETH), unwrap())],
  ["a sweep alone", multicall(sweep())],
  ["a refund alone", multicall(refund), 100n],
  ["a sweep to whoever calls", multicall(single(custody), call("sweepToken(address,uint256)", DAI, 180n))],
  [
    "an unwrapping to whoever calls",
    multicall(single({ ...custody, tokenOut: WETH }), call("unwrapWETH9(uint256)", 180n)),
  ],
  [
    "a sweep with a fee",
    multicall(
      single(custody),
      call("sweepTokenWithFee(address,uint256,address,uint256,address)", DAI, 180n, ME, 100n, THIEF),
    ),
  ],
  [
    "a sweep with a fee for whoever calls",
    multicall(single(custody), call("sweepTokenWithFee(address,uint256,uint256,address)", DAI, 180n, 100n, THIEF)),
  ],
  [
    "an unwrapping with a fee",
    multicall(
      single({ ...custody, tokenOut: WETH }),
      call("unwrapWETH9WithFee(uint256,address,uint256,address)", 180n, ME, 100n, THIEF),
    ),
  ],
  ["a pull of our tokens", multicall(call("pull", USDC, 100n), single())],
  ["an approval of the router's tokens", multicall(single(), call("approveMax", USDC))],
  ["an approval from zero", multicall(single(), call("approveZeroThenMax", USDC))],
  ["a call of the position manager", multicall(single(), call("callPositionManager", "0x1234"))],
  ["a position", multicall(single(), call("mint", [USDC, DAI, 500, -10, 10, 0n, 0n, THIEF]))],
  ["more liquidity", multicall(single(), call("increaseLiquidity", [USDC, DAI, 1n, 0n, 0n]))],
  [
    "a permit of its own",
    multicall(call("selfPermit", USDC, 100n, DEADLINE, 27, `0x${"1".repeat(64)}`, `0x${"2".repeat(64)}`), single()),
  ],
  [
    "a permit for all",
    multicall(
      call("selfPermitAllowed", USDC, 0n, DEADLINE, 27, `0x${"1".repeat(64)}`, `0x${"2".repeat(64)}`),
      single(),
    ),
  ],
  ["wrapping", multicall(call("wrapETH", 100n), single({ tokenIn: WETH })), 100n],
  ["a callback", multicall(call("uniswapV3SwapCallback", 1n, -1n, "0x"))],
  ["native coins for a sale of tokens", multicall(single()), 100n],
  ["native coins for a sale of tokens, with a refund", multicall(single(), refund), 100n],
  ["more native coins than are sold", multicall(single({ tokenIn: WETH }), refund), 101n],
  ["fewer native coins than are sold", multicall(single({ tokenIn: WETH }), refund), 99n],
  ["native coins without a refund", multicall(single({ tokenIn: WETH })), 100n],
  ["a refund before the leg", multicall(refund, single({ tokenIn: WETH })), 100n],
  ["a refund where nothing is sent along", multicall(single(), refund)],
  ["two refunds", multicall(single({ tokenIn: WETH }), refund, refund), 100n],
  ["a path that ends in the middle of a token", multicall(v3(pathOf(USDC, 500, DAI).slice(0, -2) as Hex))],
  ["a path of one token", multicall(v3(pathOf(USDC)))],
  ["an empty path", multicall(v3("0x"))],
  ["pairs of one token", multicall(v2([USDC]))],
  ["pairs of no token", multicall(v2([]))],
  ["a circle", multicall(v2([USDC, WETH, USDC]))],
  ["a path that meets a token twice", multicall(v3(pathOf(USDC, 500, WETH, 500, DAI, 500, WETH, 500, DAI)))],
  ["the zero address bought, which would be read as native coins", multicall(single({ tokenOut: NATIVE_TOKEN }))],
  ["the zero address bought over several pools", multicall(v3(pathOf(USDC, 500, WETH, 500, NATIVE_TOKEN)))],
  ["the zero address bought over pairs", multicall(v2([USDC, NATIVE_TOKEN]))],
  [
    "the zero address bought into custody",
    multicall(single({ ...custody, tokenOut: NATIVE_TOKEN }), sweep(NATIVE_TOKEN)),
  ],
  ["the zero address sold, which would be read as native coins", multicall(single({ tokenIn: NATIVE_TOKEN }))],
  ["the zero address sold, with native coins", multicall(single({ tokenIn: NATIVE_TOKEN }), refund), 100n],
  ["the zero address on the way", multicall(v2([USDC, NATIVE_TOKEN, DAI]))],
  ["a token for itself", multicall(single({ tokenOut: USDC }))],
  ["more tokens than any route has", multicall(v2([..."123456789abc"].map((digit) => address(`${digit}${digit}`))))],
  ["more legs than any route has", multicall(...Array.from({ length: 17 }, () => single(custody)), sweep())],
  ["a selector that nobody knows", multicall("0x12345678")],
  ["our own settlement's call", `0x${"ab".repeat(4)}${"0".repeat(640)}`],
  ["nothing", "0x"],
];

describe("what is read, and is not what was asked for", () => {
  const late = (deadline: bigint): Hex => call("multicall(uint256,bytes[])", deadline, [single()]);
  const swept = (...legs: readonly Hex[]): Hex => multicall(...legs, sweep());
  const parts = (first: bigint, second: bigint): Hex =>
    swept(single({ ...custody, amountIn: first }), v2([USDC, DAI], { ...custody, amountIn: second }));

  it("is the only thing that is denied: the swap itself passes, in each of its forms", () => {
    expect(denialOf(multicall(single()))).toBeUndefined();
    expect(denialOf(multicall(v2([USDC, WETH, DAI])))).toBeUndefined();
    expect(denialOf(multicall(v3(pathOf(USDC, 500, WETH, 500, DAI))))).toBeUndefined();
    expect(denialOf(parts(60n, 40n))).toBeUndefined();
  });

  it.each<[name: string, code: string, data: Hex, envelope?: { value?: bigint; to?: Address }]>([
    ["a thief is paid", "RECIPIENT_MISMATCH", multicall(single({ recipient: THIEF }))],
    [
      "a thief is paid over several pools",
      "RECIPIENT_MISMATCH",
      multicall(v3(pathOf(USDC, 500, DAI), { recipient: THIEF })),
    ],
    ["a thief is paid over pairs", "RECIPIENT_MISMATCH", multicall(v2([USDC, DAI], { recipient: THIEF }))],
    ["the sweep pays a thief", "RECIPIENT_MISMATCH", multicall(single(custody), sweep(DAI, 90n, THIEF))],
    ["one unit more is sold", "AMOUNT_MISMATCH", multicall(single({ amountIn: 101n }))],
    ["one unit less is sold", "AMOUNT_MISMATCH", multicall(single({ amountIn: 99n }))],
    ["the parts are one unit too much", "AMOUNT_MISMATCH", parts(60n, 41n)],
    ["the parts are one unit too little", "AMOUNT_MISMATCH", parts(60n, 39n)],
    ["the parts add up only where words run over", "AMOUNT_MISMATCH", parts(2n ** 256n - 1n, 101n)],
    ["the minimum is one unit lower", "OUTPUT_BELOW_MINIMUM", multicall(single({ minimum: 89n }))],
    ["the sweep's minimum is one unit lower", "OUTPUT_BELOW_MINIMUM", multicall(single(custody), sweep(DAI, 89n))],
    ["another token is bought", "TOKEN_MISMATCH", multicall(single({ tokenOut: WETH }))],
    ["another token is sold", "TOKEN_MISMATCH", multicall(single({ tokenIn: WETH }))],
    ["the pair is turned round", "TOKEN_MISMATCH", multicall(single({ tokenIn: DAI, tokenOut: USDC }))],
    ["the path ends in another token", "TOKEN_MISMATCH", multicall(v3(pathOf(USDC, 500, DAI, 500, WETH)))],
    ["native coins are paid instead", "TOKEN_MISMATCH", multicall(single({ ...custody, tokenOut: WETH }), unwrap())],
    ["native coins are sold instead", "VALUE_MISMATCH", multicall(single({ tokenIn: WETH }), refund), { value: 100n }],
    ["the deadline is past", "DEADLINE_OUT_OF_BOUNDS", late(DEADLINE - 61n)],
    ["the deadline is far", "DEADLINE_OUT_OF_BOUNDS", late(DEADLINE + 86_400n)],
    ["there is a deadline for ever", "DEADLINE_OUT_OF_BOUNDS", late(2n ** 256n - 1n)],
    ["another contract is called", "TARGET_NOT_PINNED", multicall(single()), { to: THIEF }],
  ])("%s: %s", (_name, code, data, envelope) => {
    expect(denialOf(data, envelope)).toBe(code);
  });
});

describe("what is refused", () => {
  test("is at least sixty ways", () => {
    expect(HOSTILE.length).toBeGreaterThanOrEqual(60);
    expect(new Set(HOSTILE.map(([name]) => name)).size).toBe(HOSTILE.length);
  });

  it.each(HOSTILE.map(([name, data, value = 0n]) => ({ name, data, value })))("$name", ({ data, value }) => {
    expect(decode(data, value)).toEqual({ ok: false, problem: expect.stringMatching(/.{10}/) });
  });

  test("a typed order: routers take none", () => {
    const typedData = { domain: {}, types: {}, primaryType: "Swap", message: {} };
    expect(publicRoutersProfile.decodeTypedData(typedData as never, PINNED)).toMatchObject({ ok: false });
    expect(() => publicRoutersProfile.typedData(READ, PINNED)).toThrow("takes no orders");
  });

  test("no single changed byte of a swap is read as the same swap, or as one that pays somebody else unseen", () => {
    const data = multicall(
      single({ ...custody, amountIn: 60n }),
      v2([USDC, DAI], { ...custody, amountIn: 40n }),
      sweep(),
    );
    const whole = decode(data);
    expect(whole.ok).toBe(true);
    for (let at = 2; at < data.length; at += 2) {
      const byte = (Number.parseInt(data.slice(at, at + 2), 16) ^ 0x01).toString(16).padStart(2, "0");
      const changed = decode(`${data.slice(0, at)}${byte}${data.slice(at + 2)}` as Hex);
      // Fees of pools are bound by simulation and minimum alone.
      if (changed.ok && whole.ok && !isFee(data, at))
        expect(changed.swap, `byte ${at / 2 - 1}`).not.toEqual(whole.swap);
    }
  });
});

/** Whether a digit lies in the only word of a pool's fee. */
function isFee(data: Hex, at: number): boolean {
  const place = data.indexOf((500).toString(16).padStart(64, "0"));
  return at >= place && at < place + 64;
}

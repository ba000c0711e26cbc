import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { publicRoutersProfile } from "../../../../src/adapters/swap-service/public-routers/service.ts";
import { oneContract } from "../../../../src/domain/guard/swap-contracts.ts";
import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../../../../src/domain/money/address.ts";
import { loadSwapRouter } from "../../../service/support/public-router.ts";

/** Uniswap's own interface of the router, by which everything here is encoded. */
const ABI = loadSwapRouter().abi;
const address = (digits: string): Address => toAddress(`0x${digits.repeat(20)}`);
const [ROUTER, WETH, USDC, DAI, ME, THIEF] = ["a0", "b0", "c0", "d0", "e0", "f0"].map(address) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
];
const CALLER = toAddress(`0x${"0".repeat(39)}1`);
const CUSTODY = toAddress(`0x${"0".repeat(39)}2`);
const DEADLINE = 1_800_000_000n;
const MULTICALL = "multicall(uint256,bytes[])";
const SWEEP = "sweepToken(address,uint256,address)";
const UNWRAP = "unwrapWETH9(uint256,address)";

const PINNED = { chainId: 1, contracts: oneContract(ROUTER), wrappedNative: WETH };

const call = (name: string, ...values: readonly unknown[]): Hex => ABI.encodeFunctionData(name, values) as Hex;

interface Single {
  tokenIn: Address;
  tokenOut: Address;
  recipient: Address;
  amountIn: bigint;
  minimum: bigint;
  limit: bigint;
  fee: number;
}

const SINGLE: Single = {
  ...{ tokenIn: USDC, tokenOut: DAI, recipient: ME, amountIn: 100n, minimum: 90n, limit: 0n, fee: 500 },
};

function single(changes: Partial<Single> = {}): Hex {
  const { tokenIn, tokenOut, fee, recipient, amountIn, minimum, limit } = { ...SINGLE, ...changes };
  return call("exactInputSingle", [tokenIn, tokenOut, fee, recipient, amountIn, minimum, limit]);
}

const pathOf = (...parts: readonly (Address | number)[]): Hex =>
  `0x${parts.map((part) => (typeof part === "number" ? part.toString(16).padStart(6, "0") : part.slice(2))).join("")}`;

function v3(path: Hex, { recipient = ME, amountIn = 100n, minimum = 90n } = {}): Hex {
  return call("exactInput", [path, recipient, amountIn, minimum]);
}

function v2(path: readonly Address[], { recipient = ME, amountIn = 100n, minimum = 90n } = {}): Hex {
  return call("swapExactTokensForTokens", amountIn, minimum, path, recipient);
}

const custody = { recipient: CUSTODY, minimum: 0n };
const sweep = (token: Address = DAI, minimum = 180n, recipient: Address = ME): Hex =>
  call(SWEEP, token, minimum, recipient);
const unwrap = (minimum = 180n, recipient: Address = ME): Hex => call(UNWRAP, minimum, recipient);
const refund = call("refundETH");
const multicall = (...calls: readonly Hex[]): Hex => call(MULTICALL, DEADLINE, calls);

function decode(data: Hex, value = 0n) {
  const transaction = { from: ME, to: ROUTER, data, value, chainId: 1, gasLimit: undefined };
  return publicRoutersProfile.decodeTransaction(transaction, PINNED);
}

const READ = {
  contracts: oneContract(ROUTER),
  sender: undefined,
  recipient: ME,
  fromAsset: USDC,
  toAsset: DAI,
  deadline: DEADLINE,
  amountOutMin: 90n,
  swapFee: 0n,
  amountIn: 100n,
  nonce: undefined,
  affiliate: undefined,
  permitValue: undefined,
};

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
  const encode = ({ between: via, isV2, amountIn, fee }: LegOf, to: { recipient: Address; minimum: bigint }): Hex => {
    if (isV2) return v2([USDC, ...via, DAI], { ...to, amountIn });
    return v3(pathOf(USDC, ...via.flatMap((one) => [fee, one]), fee, DAI), { ...to, amountIn });
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
  ["a token for itself", multicall(single({ tokenOut: USDC }))],
  ["more tokens than any route has", multicall(v2([..."123456789abc"].map((digit) => address(`${digit}${digit}`))))],
  ["more legs than any route has", multicall(...Array.from({ length: 17 }, () => single(custody)), sweep())],
  ["a selector that nobody knows", multicall("0x12345678")],
  ["our own settlement's call", `0x${"ab".repeat(4)}${"0".repeat(640)}`],
  ["nothing", "0x"],
];

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

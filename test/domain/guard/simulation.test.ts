import { describe, expect, it } from "vitest";
import type { DenialCode } from "../../../src/domain/guard/denial.ts";
import {
  checkSimulation,
  type SimulatedApproval,
  type SimulatedTransfer,
  type SimulationBounds,
  simulationChecks,
} from "../../../src/domain/guard/simulation.ts";
import { SIMULATION_METHODS } from "../../../src/domain/guard/simulation-method.ts";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import { type Address, NATIVE_TOKEN, toAddress } from "../../../src/domain/money/address.ts";
import { OWNER, ROUTER, STRANGER, TOKENS, USDC, WETH } from "./swap-samples.ts";

const OTHER_TOKEN = toAddress(`0x${"88".repeat(20)}`);
const OTHER_WALLET = toAddress(`0x${"99".repeat(20)}`);

const bounds: SimulationBounds = {
  ours: [OWNER, OTHER_WALLET],
  owner: OWNER,
  recipient: OWNER,
  sold: USDC,
  bought: WETH,
  tokens: TOKENS,
  gross: 100n,
  minimum: 50n,
  spender: ROUTER,
  allowanceLimit: 100n,
  ways: ["simulate", "trace"],
};
const sold: SimulatedTransfer = { token: USDC, from: OWNER, to: ROUTER, amount: 100n };
const bought: SimulatedTransfer = { token: WETH, from: ROUTER, to: OWNER, amount: 50n };

function verdict(
  transfers: readonly SimulatedTransfer[],
  approvals: readonly SimulatedApproval[] = [],
  change: Partial<SimulationBounds> = {},
): DenialCode | undefined {
  return checkSimulation({ kind: "ok", transfers, approvals }, { ...bounds, ...change })?.code;
}

describe("what may stay in a contract that keeps nothing", () => {
  const keepsNothing = { contracts: oneContract(ROUTER), wrappedNative: WETH };
  const left = (...transfers: readonly SimulatedTransfer[]) => verdict(transfers, [], { keepsNothing });
  const POOL = toAddress(`0x${"77".repeat(20)}`);
  const move = (token: Address, from: Address, to: Address, amount: bigint): SimulatedTransfer => {
    return { token, from, to, amount };
  };
  const swapped = [move(USDC, OWNER, POOL, 100n), move(WETH, POOL, OWNER, 50n)];

  it("is nothing where all passes it by, or through it", () => {
    expect(left(...swapped)).toBeUndefined();
    expect(left(move(USDC, OWNER, POOL, 100n), move(WETH, POOL, ROUTER, 50n), move(WETH, ROUTER, OWNER, 50n))).toBe(
      undefined,
    );
  });

  it("is no token on its way, which a pool that runs dry leaves there", () => {
    const between = [move(OTHER_TOKEN, POOL, ROUTER, 10n), move(OTHER_TOKEN, ROUTER, POOL, 9n)];
    expect(left(...swapped, ...between)).toBe("SIMULATION_MISMATCH");
    expect(verdict([...swapped, ...between])).toBeUndefined();
  });

  it("is nothing of what is bought or sold beyond the minimum", () => {
    expect(left(...swapped, move(WETH, POOL, ROUTER, 1n))).toBe("SIMULATION_MISMATCH");
    expect(left(move(USDC, OWNER, ROUTER, 100n), move(USDC, ROUTER, POOL, 99n), ...swapped.slice(1))).toBe(
      "SIMULATION_MISMATCH",
    );
  });

  it("counts them once where the wrapped coin shows them as transfers too, as Arbitrum's does", () => {
    const into = [move(NATIVE_TOKEN, OWNER, ROUTER, 100n), move(NATIVE_TOKEN, ROUTER, WETH, 100n)];
    const minted = move(WETH, NATIVE_TOKEN, ROUTER, 100n);
    const sale = (...moves: readonly SimulatedTransfer[]) =>
      verdict([...into, ...moves, move(USDC, POOL, OWNER, 60n)], [], {
        keepsNothing,
        sold: NATIVE_TOKEN,
        bought: USDC,
      });
    expect(sale(minted, move(WETH, ROUTER, POOL, 100n))).toBeUndefined();
    expect(sale(minted, move(WETH, ROUTER, POOL, 99n))).toBe("SIMULATION_MISMATCH");
    const out = [move(USDC, OWNER, POOL, 100n), move(NATIVE_TOKEN, WETH, ROUTER, 50n)];
    const burnt = move(WETH, ROUTER, NATIVE_TOKEN, 50n);
    const paid = move(NATIVE_TOKEN, ROUTER, OWNER, 50n);
    const purchase = (arrived: bigint) =>
      verdict([...out, move(WETH, POOL, ROUTER, arrived), burnt, paid], [], {
        ...{ keepsNothing, bought: NATIVE_TOKEN, minimum: 40n },
      });
    expect(purchase(50n)).toBeUndefined();
    expect(purchase(51n)).toBe("SIMULATION_MISMATCH");
    expect(purchase(100n)).toBe("SIMULATION_MISMATCH");
  });

  it("counts a wrap of its own for each that no transfer shows", () => {
    const wrap = move(NATIVE_TOKEN, ROUTER, WETH, 50n);
    const minted = move(WETH, NATIVE_TOKEN, ROUTER, 50n);
    const rest = [move(NATIVE_TOKEN, OWNER, ROUTER, 100n), move(USDC, POOL, OWNER, 60n), wrap, wrap, minted];
    const sale = (spent: bigint) =>
      verdict([...rest, move(WETH, ROUTER, POOL, spent)], [], { keepsNothing, sold: NATIVE_TOKEN, bought: USDC });
    expect(sale(100n)).toBeUndefined();
    expect(sale(99n)).toBe("SIMULATION_MISMATCH");
  });

  it("counts coins that are wrapped and unwrapped there, which no transfer shows", () => {
    const native = { sold: NATIVE_TOKEN, tokens: TOKENS };
    const wrap = [move(NATIVE_TOKEN, OWNER, ROUTER, 100n), move(NATIVE_TOKEN, ROUTER, WETH, 100n)];
    const spent = move(WETH, ROUTER, POOL, 100n);
    const got = move(USDC, POOL, OWNER, 60n);
    const sale = (...moves: readonly SimulatedTransfer[]) =>
      verdict(moves, [], { keepsNothing, ...native, bought: USDC });
    expect(sale(...wrap, spent, got)).toBeUndefined();
    expect(sale(...wrap, { ...spent, amount: 99n }, got)).toBe("SIMULATION_MISMATCH");
    const unwrap = [move(WETH, POOL, ROUTER, 50n), move(NATIVE_TOKEN, WETH, ROUTER, 50n)];
    const paid = move(NATIVE_TOKEN, ROUTER, OWNER, 50n);
    const bought = (...moves: readonly SimulatedTransfer[]) =>
      verdict(moves, [], { keepsNothing, bought: NATIVE_TOKEN, minimum: 40n });
    expect(bought(move(USDC, OWNER, POOL, 100n), ...unwrap, paid)).toBeUndefined();
    expect(bought(move(USDC, OWNER, POOL, 100n), ...unwrap, { ...paid, amount: 49n })).toBe("SIMULATION_MISMATCH");
  });
});

describe("what a simulated swap may do to us", () => {
  it("GRD-25 passes when exactly the swap happens", () => {
    expect(verdict([sold, bought])).toBeUndefined();
    expect(verdict([sold, { ...bought, to: STRANGER }], [], { recipient: STRANGER })).toBeUndefined();
  });

  it("denies when one unit more is taken, even if it comes back", () => {
    const more = { ...sold, amount: 101n };
    expect(verdict([more, bought])).toBe("SIMULATION_MISMATCH");
    expect(verdict([more, { ...sold, from: ROUTER, to: OWNER, amount: 1n }, bought])).toBe("SIMULATION_MISMATCH");
  });

  it("denies when the sold token is taken in two pieces that are too much together", () => {
    expect(verdict([sold, { ...sold, to: STRANGER, amount: 1n }, bought])).toBe("SIMULATION_MISMATCH");
  });

  it("denies when one unit too little arrives, or arrives and leaves again", () => {
    expect(verdict([sold, { ...bought, amount: 49n }])).toBe("SIMULATION_MISMATCH");
    expect(verdict([sold])).toBe("SIMULATION_MISMATCH");
    expect(verdict([sold, { ...bought, to: STRANGER }])).toBe("SIMULATION_MISMATCH");
    expect(verdict([sold, bought, { ...bought, from: OWNER, to: STRANGER, amount: 1n }])).toBe("SIMULATION_MISMATCH");
  });

  it("denies when another token of ours moves, in any of our wallets", () => {
    expect(verdict([sold, bought, { ...sold, token: OTHER_TOKEN, amount: 1n }])).toBe("SIMULATION_MISMATCH");
    expect(verdict([sold, bought, { ...sold, from: OTHER_WALLET, amount: 1n }])).toBe("SIMULATION_MISMATCH");
  });

  it("names a token that charges for transfers", () => {
    const short = { ...bought, amount: 48n };
    expect(verdict([sold, short, { ...bought, to: STRANGER, amount: 2n }])).toBe("TOKEN_TAX");
  });

  it.each<[string, Partial<SimulatedApproval>]>([
    ["for another spender", { spender: STRANGER }],
    ["of another token", { token: WETH }],
    ["above the exact amount", { amount: 101n }],
    ["of another wallet of ours", { owner: OTHER_WALLET }],
  ])("denies an allowance %s", (_name, change) => {
    const approval = { token: USDC, owner: OWNER, spender: ROUTER, amount: 100n };
    expect(verdict([sold, bought], [approval])).toBeUndefined();
    expect(verdict([sold, bought], [{ ...approval, ...change }])).toBe("SIMULATION_MISMATCH");
  });

  it("does not mind what others approve, nor allowances set to zero", () => {
    expect(verdict([sold, bought], [{ token: WETH, owner: STRANGER, spender: ROUTER, amount: 9n }])).toBeUndefined();
    expect(verdict([sold, bought], [{ token: USDC, owner: OWNER, spender: STRANGER, amount: 0n }])).toBeUndefined();
  });

  it.each([
    ["simulate", "eth_simulateV1"],
    ["trace", "debug_traceCall"],
    ["probe", "a probe in eth_call"],
  ] as const)(
    "says on a row of its own that it was simulated by %s, and denies it where the policy does not permit that",
    (way, words) => {
      for (const outcome of [
        { kind: "ok", way, transfers: [sold, bought], approvals: [] },
        { kind: "reverted", way, reason: "paused" },
      ] as const) {
        const [permitted] = simulationChecks(outcome, { ...bounds, ways: [way] });
        expect(permitted).toMatchObject({ subject: "way of trying it out", value: words, limit: words, ok: true });
        const ways = SIMULATION_METHODS.filter((one) => one !== way);
        expect(checkSimulation(outcome, { ...bounds, ways })?.code).toBe("SIMULATION_UNAVAILABLE");
      }
    },
  );

  it("takes rows of before for simulated: there was no other way", () => {
    const outcome = { kind: "ok", transfers: [sold, bought], approvals: [] } as const;
    expect(checkSimulation(outcome, { ...bounds, ways: ["simulate"] })).toBeUndefined();
    expect(checkSimulation(outcome, { ...bounds, ways: ["trace", "probe"] })?.code).toBe("SIMULATION_UNAVAILABLE");
  });

  it("denies what was not, or could not be, simulated", () => {
    expect(checkSimulation(undefined, bounds)?.code).toBe("SIMULATION_UNAVAILABLE");
    expect(checkSimulation({ kind: "not-applicable" }, bounds)?.code).toBe("SIMULATION_UNAVAILABLE");
    expect(checkSimulation({ kind: "unavailable", reason: "no method" }, bounds)?.code).toBe("SIMULATION_UNAVAILABLE");
    expect(checkSimulation({ kind: "reverted", reason: "paused" }, bounds)?.code).toBe("SIMULATION_REVERTED");
  });
});

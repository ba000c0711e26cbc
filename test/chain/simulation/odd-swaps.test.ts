import { readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/adapters/clock/system-clock.ts";
import { createChain } from "../../../src/chain/chain.ts";
import type { DenialCode } from "../../../src/domain/guard/denial.ts";
import { checkSimulation, type SimulationBounds } from "../../../src/domain/guard/simulation.ts";
import { SIMULATION_METHODS, type SimulationMethod } from "../../../src/domain/guard/simulation-method.ts";
import { type Address, NATIVE_TOKEN, toAddress } from "../../../src/domain/money/address.ts";
import { Secret } from "../../../src/net/secret.ts";
import type { CallRequest, Chain, SimulationOutcome, Watched } from "../../../src/ports/chain.ts";
import { startTestChain, type TestChain } from "../../service/support/chain.ts";
import { callOf, compileOddSwaps, type OddSwaps } from "./odd-swaps.ts";

const account = (digit: string): Address => toAddress(`0x${digit.repeat(40)}`);
const [OWNER, OTHER_WALLET, FRIEND, STRANGER] = ["1", "2", "3", "4"].map(account) as [
  Address,
  Address,
  Address,
  Address,
];
const PLENTY = 1_000n;

let chain: TestChain;
let odd: OddSwaps;
let [sold, bought, third, settlement]: Address[] = [];
let trying: Readonly<Record<SimulationMethod, Chain>>;

beforeAll(async () => {
  chain = await startTestChain();
  odd = compileOddSwaps();
  sold = await odd.deployCoin(chain);
  bought = await odd.deployCoin(chain);
  third = await odd.deployCoin(chain);
  settlement = await odd.deploySettlement(chain, sold, bought);
  for (const token of [sold, bought, third]) {
    for (const owner of [OWNER, OTHER_WALLET, settlement]) {
      await chain.send({ to: token, data: odd.ofCoin("mint", owner, PLENTY) });
    }
  }
  for (const rich of [OWNER, OTHER_WALLET, settlement])
    await chain.rpc.call("anvil_setBalance", [rich, "0x56bc75e2d63100000"]);
  const options = { rpcUrls: [new Secret(chain.url)], chainId: 31_337 };
  const one = (way: SimulationMethod) => createChain({ ...options, trialWays: [way] }, { clock: systemClock });
  trying = { simulate: one("simulate"), trace: one("trace"), probe: one("probe") };
});

afterAll(() => chain?.stop());

let snapshot: unknown;
beforeEach(async () => {
  if (snapshot !== undefined) await chain.rpc.call("evm_revert", [snapshot]);
  snapshot = await chain.rpc.call("evm_snapshot", []);
});

/** Sends something of the owner's, whom the chain impersonates, before the simulation. */
async function before(token: Address, from: Address, name: string, ...values: readonly unknown[]): Promise<void> {
  await chain.rpc.call("anvil_impersonateAccount", [from]);
  await chain.send({ from, to: token, data: odd.ofCoin(name, ...values) });
}

const approve = (amount: bigint): CallRequest => callOf(OWNER, sold!, odd.ofCoin("approve", settlement, amount));
const order = (name: string, ...values: readonly unknown[]): CallRequest =>
  callOf(OWNER, settlement!, odd.ofSettlement(name, ...values));
const paid = (value: bigint, name: string, ...values: readonly unknown[]): CallRequest => ({
  ...order(name, ...values),
  value,
});

interface Case {
  readonly arrange?: () => Promise<void>;
  readonly calls: () => readonly CallRequest[];
  readonly bounds?: () => Partial<SimulationBounds>;
  readonly watched?: () => Partial<Watched>;
  /** of all ways, or of each */
  readonly verdict: DenialCode | "passes" | Readonly<Record<SimulationMethod, DenialCode | "passes">>;
  /** simulate and trace report other moves, by what the node traces */
  readonly movesDiffer?: true;
}

const byLogs = (logs: DenialCode | "passes", probe: DenialCode | "passes") => ({ simulate: logs, trace: logs, probe });
const [MISMATCH, REVERTED] = ["SIMULATION_MISMATCH", "SIMULATION_REVERTED"] as const;
const habit =
  (token: () => Address, number: number, friend: Address = FRIEND) =>
  () =>
    chain.send({ to: token(), data: odd.ofCoin("setHabit", number, friend) }).then(() => undefined);
const coins = () => ({ bought: NATIVE_TOKEN });

const ALIKE: Readonly<Record<string, Case>> = {
  "an honest swap": { calls: () => [approve(100n), order("swap", 100, 50, OWNER)], verdict: "passes" },
  "an honest swap that needs no approval": {
    arrange: () => before(sold!, OWNER, "approve", settlement, 100),
    calls: () => [order("swap", 100, 50, OWNER)],
    verdict: "passes",
  },
  "an honest swap for another recipient": {
    calls: () => [approve(100n), order("swap", 100, 50, STRANGER)],
    bounds: () => ({ recipient: STRANGER }),
    verdict: "passes",
  },
  "one that delivers less": { calls: () => [approve(100n), order("swap", 100, 49, OWNER)], verdict: MISMATCH },
  "one that delivers to somebody else": {
    calls: () => [approve(100n), order("swap", 100, 50, STRANGER)],
    verdict: MISMATCH,
  },
  "one that takes more than it may": {
    arrange: () => before(sold!, OWNER, "approve", settlement, 200),
    calls: () => [order("swap", 101, 50, OWNER)],
    bounds: () => ({ allowanceLimit: 200n }),
    verdict: MISMATCH,
  },
  "one that takes another token, too": {
    arrange: () => before(third!, OWNER, "approve", settlement, 1),
    calls: () => [approve(100n), order("alsoTake", third, OWNER, 1, 100, 50)],
    verdict: MISMATCH,
  },
  "one that takes from another wallet of ours": {
    arrange: () => before(sold!, OTHER_WALLET, "approve", settlement, 1),
    calls: () => [approve(100n), order("alsoTake", sold, OTHER_WALLET, 1, 100, 50)],
    verdict: MISMATCH,
  },
  "one that leaves an allowance to a contract that is watched": {
    arrange: habit(() => sold!, 4),
    calls: () => [approve(100n), order("swap", 100, 50, OWNER)],
    verdict: MISMATCH,
  },
  "one that gives inside of a frame that is undone": {
    calls: () => [approve(100n), order("undo", 100, 50)],
    verdict: MISMATCH,
  },
  "one that gives coins inside of a frame that is undone": {
    calls: () => [approve(100n), order("undo", 100, 50)],
    bounds: coins,
    verdict: MISMATCH,
  },
  "a taxed token of which enough arrives": {
    arrange: habit(() => bought!, 1),
    calls: () => [approve(100n), order("swap", 100, 60, OWNER)],
    verdict: "passes",
  },
  "a sold token that is taxed": {
    arrange: habit(() => sold!, 1),
    calls: () => [approve(100n), order("swap", 100, 50, OWNER)],
    verdict: "passes",
  },
  "a token that approves from zero only": {
    arrange: async () => {
      await habit(() => sold!, 8)();
      await before(sold!, OWNER, "approve", settlement, 7);
    },
    calls: () => [approve(0n), approve(100n), order("swap", 100, 50, OWNER)],
    verdict: "passes",
  },
  "the same without the zero": {
    arrange: async () => {
      await habit(() => sold!, 8)();
      await before(sold!, OWNER, "approve", settlement, 7);
    },
    calls: () => [approve(100n), order("swap", 100, 50, OWNER)],
    verdict: REVERTED,
  },
  "an owner who has too little": {
    calls: () => [approve(PLENTY + 1n), order("swap", PLENTY + 1n, 50, OWNER)],
    verdict: REVERTED,
  },
  "a swap that refuses in words": { calls: () => [order("refuseInWords")], verdict: REVERTED },
  "a swap that refuses by an error of its own": { calls: () => [order("refuse", 7)], verdict: REVERTED },
  "a swap that burns all gas": { calls: () => [approve(100n), order("burn")], verdict: REVERTED },
  "an honest swap for coins": {
    calls: () => [approve(100n), order("buyCoins", 100, 50, OWNER)],
    bounds: coins,
    verdict: "passes",
  },
  "too few coins": {
    calls: () => [approve(100n), order("buyCoins", 100, 49, OWNER)],
    bounds: coins,
    verdict: MISMATCH,
  },
  "coins to somebody else": {
    calls: () => [approve(100n), order("buyCoins", 100, 50, STRANGER)],
    bounds: coins,
    verdict: MISMATCH,
  },
  "an honest swap of coins": {
    calls: () => [paid(100n, "sellFor", 50)],
    bounds: () => ({ sold: NATIVE_TOKEN }),
    verdict: "passes",
  },
  "one coin too many": {
    calls: () => [paid(101n, "sellFor", 50)],
    bounds: () => ({ sold: NATIVE_TOKEN }),
    verdict: MISMATCH,
  },
  "coins that go along with a token": {
    calls: () => [approve(100n), paid(1n, "swap", 100, 50, OWNER)],
    verdict: MISMATCH,
  },
  "a delegate call, which shows its caller's value": {
    calls: () => [approve(100n), paid(7n, "delegated", 100)],
    bounds: coins,
    verdict: MISMATCH,
  },
};

/** Each is a row of SECURITY.md, by its name. */
const DIFFERENT: Readonly<Record<string, Case>> = {
  "takes more than it may, and gives it back": {
    arrange: () => before(sold!, OWNER, "approve", settlement, 200),
    calls: () => [order("giveBack", 101, 1, 50, OWNER)],
    bounds: () => ({ allowanceLimit: 200n }),
    verdict: byLogs(MISMATCH, "passes"),
  },
  "takes a token that is neither configured nor in a row": {
    arrange: () => before(third!, OWNER, "approve", settlement, 1),
    calls: () => [approve(100n), order("alsoTake", third, OWNER, 1, 100, 50)],
    watched: () => ({ tokens: [sold!, bought!] }),
    verdict: byLogs(MISMATCH, "passes"),
  },
  "leaves an allowance to a contract that is not watched": {
    arrange: habit(() => sold!, 4, STRANGER),
    calls: () => [approve(100n), order("swap", 100, 50, OWNER)],
    verdict: byLogs(MISMATCH, "passes"),
  },
  "leaves an allowance, and its token emits no event of it": {
    arrange: habit(() => sold!, 5),
    calls: () => [approve(100n), order("swap", 100, 50, OWNER)],
    verdict: byLogs("passes", MISMATCH),
  },
  "buys a token that taxes its transfers": {
    arrange: habit(() => bought!, 1),
    calls: () => [approve(100n), order("swap", 100, 50, OWNER)],
    verdict: byLogs("TOKEN_TAX", MISMATCH),
  },
  "buys a token that emits no events": {
    arrange: habit(() => bought!, 2),
    calls: () => [approve(100n), order("swap", 100, 50, OWNER)],
    verdict: byLogs(MISMATCH, "passes"),
  },
  "buys a token whose events say more than it moves": {
    arrange: habit(() => bought!, 3),
    calls: () => [approve(100n), order("swap", 100, 25, OWNER)],
    verdict: byLogs("passes", MISMATCH),
  },
  "buys a token that gives less to an account with code": {
    arrange: habit(() => bought!, 6),
    calls: () => [approve(100n), order("swap", 100, 50, OWNER)],
    verdict: byLogs("passes", MISMATCH),
  },
  "buys a token that gives less to an account without code": {
    arrange: habit(() => bought!, 7),
    calls: () => [approve(100n), order("swap", 100, 50, OWNER)],
    verdict: byLogs("TOKEN_TAX", "passes"),
  },
  "happens while a watched token reports no balance": {
    calls: () => [approve(100n), order("swap", 100, 50, OWNER)],
    watched: () => ({ tokens: [sold!, bought!, settlement!] }),
    verdict: byLogs("passes", "SIMULATION_UNAVAILABLE"),
  },
  "delivers coins by the end of a contract": {
    calls: () => [approve(100n), order("buyCoinsByLastWill", 100, 50)],
    bounds: coins,
    verdict: { simulate: MISMATCH, trace: "passes", probe: "passes" },
    movesDiffer: true,
  },
};

function boundsOf({ bounds }: Case, way: SimulationMethod): SimulationBounds {
  return {
    ...{ ours: [OWNER, OTHER_WALLET], owner: OWNER, recipient: OWNER, sold: sold!, bought: bought! },
    tokens: { sold: { symbol: "SOLD", decimals: 0 }, bought: { symbol: "BGHT", decimals: 0 } },
    ...{ gross: 100n, minimum: 50n, spender: settlement!, allowanceLimit: 100n, ways: [way] },
    ...bounds?.(),
  };
}

async function judged(one: Case) {
  await one.arrange?.();
  const watched = {
    ...{ accounts: [OWNER, OTHER_WALLET, boundsOf(one, "simulate").recipient], tokens: [sold!, bought!, third!] },
    ...{ spenders: [settlement!, FRIEND], ...one.watched?.() },
  };
  const outcomes = {} as Record<SimulationMethod, SimulationOutcome>;
  for (const way of SIMULATION_METHODS) outcomes[way] = await trying[way].simulate(one.calls(), { watched });
  const code = (way: SimulationMethod) => checkSimulation(outcomes[way], boundsOf(one, way))?.code ?? "passes";
  return { outcomes, verdicts: { simulate: code("simulate"), trace: code("trace"), probe: code("probe") } };
}

/** What was reported, in any order. */
function reported(outcome: SimulationOutcome) {
  if (outcome.kind !== "ok") return outcome.kind;
  const sorted = (all: readonly object[]) => all.map((each) => Object.values(each).join(" ")).sort();
  return { gas: outcome.gasUsedByCall, moves: sorted(outcome.transfers), allowed: sorted(outcome.approvals) };
}

describe("every way of simulating comes to the same verdict of", () => {
  test.each(Object.keys(ALIKE))("%s", async (name) => {
    const one = ALIKE[name]!;
    const { outcomes, verdicts } = await judged(one);
    expect(verdicts).toEqual(byLogs(one.verdict as DenialCode, one.verdict as DenialCode));
    // Gas and every move too: a trace is the same transactions, reported by frames.
    expect(reported(outcomes.trace)).toEqual(reported(outcomes.simulate));
  });
});

describe("the ways differ exactly as SECURITY.md says of a swap that", () => {
  test.each(Object.keys(DIFFERENT))("%s", async (name) => {
    const one = DIFFERENT[name]!;
    const { outcomes, verdicts } = await judged(one);
    expect(verdicts).toEqual(one.verdict);
    if (one.movesDiffer !== true) expect(reported(outcomes.trace)).toEqual(reported(outcomes.simulate));
  });

  test("and of no other one", () => {
    const page = readFileSync(new URL("../../../docs/SECURITY.md", import.meta.url), "utf8");
    const [, table = ""] = page.split("| A swap that |");
    const rows = [...table.split("\n\n")[0]!.matchAll(/^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|/gm)].slice(1);
    const cell = (text: string | undefined) =>
      text?.trim() === "passes" ? "passes" : text?.trim().replaceAll("`", "");
    const said = rows.map(([, name, simulate, trace, probe]) => [
      name?.trim(),
      { simulate: cell(simulate), trace: cell(trace), probe: cell(probe) },
    ]);
    expect(Object.fromEntries(said)).toEqual(
      Object.fromEntries(Object.entries(DIFFERENT).map(([name, { verdict }]) => [name, verdict])),
    );
  });
});

test("a refusal has the contract's words or the name of its error, whichever way", async () => {
  for (const [name, reason] of [
    ["a swap that refuses in words", "too little output"],
    ["a swap that refuses by an error of its own", `custom error ${odd.selector("TooLittle")}`],
  ] as const) {
    const { outcomes } = await judged(ALIKE[name]!);
    for (const way of SIMULATION_METHODS) expect(outcomes[way]).toEqual({ kind: "reverted", way, reason });
  }
});

test("what comes back on the way back is counted by itself, whichever way", async () => {
  const back = await odd.deploySettlement(chain, bought!, sold!);
  await chain.send({ to: sold!, data: odd.ofCoin("mint", back, PLENTY) });
  const calls = [
    approve(100n),
    order("swap", 100, 50, OWNER),
    callOf(OWNER, bought!, odd.ofCoin("approve", back, 50)),
    callOf(OWNER, back, odd.ofSettlement("swap", 50, 90, OWNER)),
  ];
  const watched = { accounts: [OWNER], tokens: [sold!, bought!], spenders: [settlement!, back] };
  for (const way of SIMULATION_METHODS) {
    const outcome = await trying[way].simulate(calls, { watched });
    if (outcome.kind !== "ok") throw new Error(JSON.stringify(outcome));
    const arrived = outcome.transfers.filter(({ token, to }) => token === sold && to === OWNER);
    expect(arrived.map(({ amount }) => amount)).toEqual([90n]);
  }
});

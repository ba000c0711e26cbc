import { describe, expect, it } from "vitest";
import { checkSwap, type SwapFacts } from "../../../src/domain/guard/check-swap.ts";
import type { DecodedSwap } from "../../../src/domain/guard/decoded-swap.ts";
import type { SwapContracts } from "../../../src/domain/guard/swap-contracts.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import { factsSample, gaslessFactsSample, OWNER, STRANGER, USDC } from "./swap-samples.ts";

// A service that approves one contract, calls another and has its orders checked by a third.

const SPENDER = toAddress(`0x${"a1".repeat(20)}`);
const TARGET = toAddress(`0x${"a2".repeat(20)}`);
const VERIFYING = toAddress(`0x${"a3".repeat(20)}`);
const APART: SwapContracts = { spender: SPENDER, target: TARGET, verifyingContract: VERIFYING };

/** What each of the three must not be: a stranger, and each of the other two. */
const OTHERS = {
  spender: [STRANGER, TARGET, VERIFYING],
  target: [STRANGER, SPENDER, VERIFYING],
  verifyingContract: [STRANGER, SPENDER, TARGET],
} as const;

function apart(facts: SwapFacts, stated: DecodedSwap["contracts"]): SwapFacts {
  if (!facts.decoding.ok) throw new Error("the sample is undecoded");
  return {
    ...facts,
    limits: { ...facts.limits, spenders: Object.values(APART) },
    pinned: { ...facts.pinned, contracts: APART },
    quote: { ...facts.quote, targetAddress: TARGET, spender: SPENDER },
    decoding: { ok: true, swap: { ...facts.decoding.swap, contracts: stated } },
    transaction: facts.transaction && { ...facts.transaction, to: TARGET },
    simulation: approved(facts.simulation, SPENDER),
  };
}

function approved(simulation: SwapFacts["simulation"], spender = SPENDER): SwapFacts["simulation"] {
  if (simulation?.kind !== "ok") return simulation;
  return { ...simulation, approvals: [{ token: USDC, owner: OWNER, spender, amount: 1n }] };
}

/** Our own transaction, whose calldata names the spender alongside the target. */
function own(change: Partial<SwapFacts> = {}): SwapFacts {
  return { ...apart(factsSample(), { spender: SPENDER, target: TARGET }), ...change };
}

/** An order, which names nobody but the contract that checks it. */
function order(change: Partial<SwapFacts> = {}): SwapFacts {
  const signing = { verifyingContract: VERIFYING, permitSpender: SPENDER };
  return { ...apart(gaslessFactsSample(), { verifyingContract: VERIFYING }), signing, ...change };
}

function stating(facts: SwapFacts, contracts: DecodedSwap["contracts"]): SwapFacts {
  if (!facts.decoding.ok) throw new Error("the sample is undecoded");
  return { ...facts, decoding: { ok: true, swap: { ...facts.decoding.swap, contracts } } };
}

/** Codes and subjects of what is not in order. */
function broken(facts: SwapFacts): string[] {
  return checkSwap(facts).checks.flatMap(({ ok, code, subject }) => (ok ? [] : [`${code}: ${subject}`]));
}

describe("a service of three contracts", () => {
  it("may trade when each is the pinned one, by our own transaction and by an order", () => {
    expect(checkSwap(own()).denial).toBeUndefined();
    expect(checkSwap(order()).denial).toBeUndefined();
  });

  it.each(OTHERS.target)("is denied a transaction to %s, anyone else who is of the three", (to) => {
    const { transaction } = own();
    const facts = own({ transaction: transaction && { ...transaction, to } });
    expect(broken(facts)).toEqual(["TARGET_NOT_PINNED: transaction.to"]);
  });

  it.each(OTHERS.target)("is denied a quote and calldata whose target is %s", (target) => {
    expect(broken(own({ quote: { ...own().quote, targetAddress: target } }))).toEqual([
      "TARGET_NOT_PINNED: quote.targetAddress",
    ]);
    expect(broken(stating(own(), { spender: SPENDER, target }))).toEqual(["TARGET_NOT_PINNED: target"]);
  });

  it.each(OTHERS.spender)("is denied a quote, calldata and a permit whose spender is %s", (spender) => {
    expect(broken(own({ quote: { ...own().quote, spender } }))).toEqual(["SPENDER_NOT_PINNED: quote.spender"]);
    expect(broken(stating(own(), { spender, target: TARGET }))).toEqual(["SPENDER_NOT_PINNED: spender"]);
    const signing = { verifyingContract: VERIFYING, permitSpender: spender };
    expect(broken(order({ signing }))).toEqual(["SPENDER_NOT_PINNED: spender of the permit to sign"]);
  });

  it.each(OTHERS.spender)("is denied where the simulation leaves an allowance for %s", (spender) => {
    expect(broken(own({ simulation: approved(own().simulation, spender) }))).toEqual([
      "SIMULATION_MISMATCH: allowances of our accounts",
    ]);
  });

  it.each([...OTHERS.verifyingContract, undefined])("is denied an order that %s checks", (verifyingContract) => {
    expect(broken(stating(order(), { verifyingContract }))).toEqual([
      "VERIFYING_CONTRACT_NOT_PINNED: verifyingContract",
    ]);
    expect(broken(order({ signing: { verifyingContract, permitSpender: SPENDER } }))).toEqual([
      "VERIFYING_CONTRACT_NOT_PINNED: verifyingContract of the order to sign",
    ]);
  });

  it("may leave target and spender out of its quotes: the transaction and our approval bind them", () => {
    const quote = { ...own().quote, targetAddress: undefined, spender: undefined };
    expect(broken(own({ quote }))).toEqual([]);
    const { transaction } = own();
    expect(broken(own({ quote, transaction: transaction && { ...transaction, to: STRANGER } }))).toEqual([
      "TARGET_NOT_PINNED: transaction.to",
    ]);
  });

  it("is denied an order of which nobody knows what would be signed", () => {
    expect(broken(order({ signing: undefined }))).toEqual([
      "VERIFYING_CONTRACT_NOT_PINNED: verifyingContract of the order to sign",
    ]);
  });

  it("is denied calldata whose order another contract would check, where it says so", () => {
    const stated = { spender: SPENDER, target: TARGET, verifyingContract: STRANGER };
    expect(broken(stating(own(), stated))).toEqual(["VERIFYING_CONTRACT_NOT_PINNED: verifyingContract"]);
  });

  it.each([
    ["spender", "spender"],
    ["target", "target"],
    ["verifyingContract", "verifying contract"],
  ] as const)("is denied while the policy does not list its %s", (role, name) => {
    const { limits } = own();
    const spenders = limits.spenders.filter((address) => address !== APART[role]);
    expect(broken(own({ limits: { ...limits, spenders } }))).toEqual([`SPENDER_NOT_ALLOWED: ${name}`]);
  });
});

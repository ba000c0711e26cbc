import { ChainReadError } from "../../domain/chain-read-error.ts";
import { formatMethods, type SimulationMethod } from "../../domain/guard/simulation-method.ts";
import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../../domain/money/address.ts";
import type { CallRequest, SimulationOutcome } from "../../ports/chain.ts";
import type { Ask } from "../crowded-reads.ts";
import { SUBJECT_CODE } from "./injected-code.ts";
import type { SimulationRun } from "./method.ts";
import { tryIn } from "./methods.ts";

type Simulated = Extract<SimulationOutcome, { kind: "ok" }>;

/** Addresses without key or contract: their names in ASCII. */
const OWNER: Address = toAddress("0x737761706420747269616c206f66206f776e6572");
const SUBJECT: Address = toAddress("0x737761706420747269616c207375626a65637421");
const STRANGER: Address = toAddress("0x73776170642070726f626520737472616e676572");

/** `first()` with two wei, and `second()`. */
const CALLS: readonly CallRequest[] = [
  { from: OWNER, to: SUBJECT, data: "0x3df4ddf4", value: 2n },
  { from: OWNER, to: SUBJECT, data: "0x5a8ac02d", value: 0n },
];

const word = (value: number): Hex => `0x${value.toString(16).padStart(64, "0")}`;

/** What the known program finds; its source says what that means. */
const RUN: SimulationRun = {
  calls: CALLS,
  block: "latest",
  next: undefined,
  lent: {
    [OWNER]: { balance: "0x64" },
    [SUBJECT]: { code: SUBJECT_CODE, stateDiff: { [word(0)]: word(10), [word(1)]: word(1), [word(2)]: word(4) } },
  },
  watched: { accounts: [OWNER], tokens: [SUBJECT], spenders: [SUBJECT] },
};

const MOVED: Simulated["transfers"] = [
  { token: NATIVE_TOKEN, from: OWNER, to: SUBJECT, amount: 2n },
  { token: NATIVE_TOKEN, from: SUBJECT, to: STRANGER, amount: 1n },
  { token: SUBJECT, from: OWNER, to: SUBJECT, amount: 7n },
  { token: SUBJECT, from: OWNER, to: SUBJECT, amount: 2n },
];

/** The probe sees what the owner has less, and not whom it went to. */
const MISSED: Simulated["transfers"] = [
  { token: NATIVE_TOKEN, from: OWNER, to: NATIVE_TOKEN, amount: 2n },
  { token: SUBJECT, from: OWNER, to: NATIVE_TOKEN, amount: 7n },
  { token: SUBJECT, from: OWNER, to: NATIVE_TOKEN, amount: 2n },
];

const ALLOWED: Simulated["approvals"] = [{ token: SUBJECT, owner: OWNER, spender: SUBJECT, amount: 5n }];

/** No transaction uses less. */
const LEAST_GAS = 21_000n;

/**
 * Has an endpoint simulate a known program, and compares: a node may know a method's name and run no code of today,
 * take injected code without an error and not run it, or leave logs, native moves or what the first call changed out.
 * @returns what is wrong, undefined where nothing is
 * @throws RpcError, or ChainReadError where it was not asked at all
 */
export async function proveWay(way: SimulationMethod, ask: Ask): Promise<string | undefined> {
  let refusal: unknown;
  const noted: Ask = (method, params) =>
    ask(method, params).catch((error: unknown) => {
      refusal = error;
      throw error;
    });
  try {
    const outcome = await tryIn(way, noted, RUN);
    if (outcome.kind === "reverted")
      return `${formatMethods([way])} does not run code of today's rules: ${outcome.reason}`;
    return isWhole(way, outcome) ? undefined : `${formatMethods([way])} does not show all that a known program does`;
  } catch (error) {
    if (error instanceof ChainReadError && error !== refusal) return error.message;
    throw error;
  }
}

function isWhole(way: SimulationMethod, { transfers, approvals, gasUsedByCall }: Simulated): boolean {
  return (
    isSame(transfers, way === "probe" ? MISSED : MOVED) &&
    isSame(approvals, ALLOWED) &&
    gasUsedByCall.every((gas) => gas >= LEAST_GAS)
  );
}

/** In any order: it is reported differently. */
function isSame(seen: readonly object[], expected: readonly object[]): boolean {
  const sorted = (all: readonly object[]): string =>
    all
      .map((one) => Object.values(one).join(" "))
      .sort()
      .join("\n");
  return sorted(seen) === sorted(expected);
}

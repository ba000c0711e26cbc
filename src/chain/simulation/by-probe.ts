import { AbiCoder, type Result } from "ethers";
import { ChainReadError } from "../../domain/chain-read-error.ts";
import { type Address, type Hex, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { larger } from "../../domain/money/bigint.ts";
import type { SimulationOutcome, Watched } from "../../ports/chain.ts";
import { encodeTokenCall } from "../abi.ts";
import { splitWords } from "../at-block/words.ts";
import { readBytes } from "../read-values.ts";
import { revertReason } from "../revert-reason.ts";
import { PROBE_CODE } from "./injected-code.ts";
import type { SimulateAt, SimulationRun } from "./method.ts";

type Simulated = Extract<SimulationOutcome, { kind: "ok" }>;

/** A word that the probe asks for before the first call and after each. */
type Question =
  | { readonly about: "balance"; readonly token: Address; readonly account: Address }
  | { readonly about: "allowance"; readonly token: Address; readonly account: Address; readonly spender: Address };

const way = "probe";

/** Words are packed: the library's decoder takes seconds for a thousand of them. */
const PROGRAM = ["tuple(address to, uint256 value, bytes data)[]", "bytes questions"];
const REPORT = ["bytes used", "bool reverted", "bytes reason", "bytes known", "bytes answers"];
const SELECTOR = { balance: encodeTokenCall("balanceOf", []), allowance: encodeTokenCall("allowance", []) };

/** What a transaction costs before its first instruction, and each byte of its data. */
const BASE_GAS = 21_000n;
const DATA_GAS = { zero: 4n, other: 16n };
/** The least that a byte counts where that comes to more (EIP-7623). */
const DATA_FLOOR_GAS = { zero: 10n, other: 40n };
/**
 * Accounts and words that the probe has read before a call cost less in it than in a transaction of its own; and in the
 * newest block pools do not write what they write once a second.
 */
const WATCH_GAS = 60_000n;

/**
 * Runs calls of one account by code that is injected into it, in one `eth_call`, and compares what the watched accounts have
 * and allow before and after each. It sees no logs, and only what is watched.
 */
export const simulateByProbe: SimulateAt = async (ask, run) => {
  const [first] = run.calls;
  if (first === undefined) throw new Error("there is nothing to simulate");
  const owner = first.from;
  if (run.calls.some(({ from }) => from !== owner)) {
    throw new ChainReadError("refused", "the probe simulates calls of one account only");
  }
  const questions = questionsOf(run.watched);
  const lent = { ...run.lent, [owner]: { ...run.lent[owner], code: PROBE_CODE } };
  const call = { from: owner, to: owner, data: programOf(run, questions) };
  const report = readReport(await ask("eth_call", [call, run.block, lent]));
  if (report.reverted) return { kind: "reverted", way, reason: revertReason(report.reason, undefined) };
  if (report.used.length !== run.calls.length || report.seen.length !== (run.calls.length + 1) * questions.length) {
    throw new ChainReadError("malformed answer", "the node's answer to a probe is not whole: check the RPC endpoint");
  }
  const answers = answersOf(report.seen, questions);
  const silent = answers.flat().find(({ answer }) => answer === undefined);
  if (silent !== undefined) throw new ChainReadError("refused", silenceOf(silent.question));
  const gasUsedByCall = run.calls.map(({ data }, index) => gasOf(data, report.used[index] ?? 0n));
  return {
    ...{ kind: "ok", way, gasUsed: gasUsedByCall.reduce((sum, gas) => sum + gas, 0n), gasUsedByCall },
    ...changesOf(answers),
  };
};

/** Of the native token too, whatever is watched. */
function questionsOf({ accounts, tokens, spenders }: Watched): readonly Question[] {
  return unique(accounts).flatMap((account) => [
    ...[NATIVE_TOKEN, ...unique(tokens)].map((token): Question => ({ about: "balance", token, account })),
    ...unique(tokens).flatMap((token) =>
      unique(spenders).map((spender): Question => ({ about: "allowance", token, account, spender })),
    ),
  ]);
}

function unique(addresses: readonly Address[]): readonly Address[] {
  return [...new Set(addresses)].filter((address) => address !== NATIVE_TOKEN);
}

function programOf({ calls }: SimulationRun, questions: readonly Question[]): Hex {
  return AbiCoder.defaultAbiCoder().encode(PROGRAM, [calls, `0x${questions.map(packed).join("")}`]) as Hex;
}

/** Whom to ask, the selector, whose, and for which spender; zeros where there is none. */
function packed({ about, token, account, ...rest }: Question): string {
  const spender = "spender" in rest ? rest.spender : NATIVE_TOKEN;
  return [token, SELECTOR[about], account, spender].map((bytes) => bytes.slice(2)).join("");
}

interface Report {
  readonly used: readonly bigint[];
  readonly reverted: boolean;
  readonly reason: Hex;
  /** by reading, then by question; undefined where there was no answer */
  readonly seen: readonly (bigint | undefined)[];
}

/** @throws ChainReadError when the probe cannot have written it */
function readReport(answer: unknown): Report {
  const bytes = readBytes(answer, "the answer to a probe");
  const [used, reverted, reason, known, answers] = decoded(bytes);
  return {
    used: splitWords(used as Hex),
    reverted: reverted as boolean,
    reason: reason as Hex,
    seen: splitWords(answers as Hex).map((word, index) => (known[2 * index + 3] === "1" ? word : undefined)),
  };
}

function decoded(bytes: Hex): Result {
  try {
    return AbiCoder.defaultAbiCoder().decode(REPORT, bytes);
  } catch {
    const shown = bytes.slice(0, 100);
    throw new ChainReadError("malformed answer", `the node gave ${shown} for a probe: it overrides no code`);
  }
}

interface WatchedAnswer {
  readonly question: Question;
  /** undefined where the token gives none */
  readonly answer: bigint | undefined;
}

/** By reading, each question with its answer. */
function answersOf(seen: Report["seen"], questions: readonly Question[]): readonly (readonly WatchedAnswer[])[] {
  const count = seen.length / Math.max(1, questions.length);
  return Array.from({ length: count }, (_, answerIndex) =>
    questions.map((question, index) => ({ question, answer: seen[answerIndex * questions.length + index] })),
  );
}

function silenceOf({ about, token, account }: Question): string {
  const what = about === "balance" ? "the balance" : "an allowance";
  return `the probe cannot watch ${token}: it does not report ${what} of ${account}`;
}

/** What an account has more or less after a call than before it; the other side of a move is not known. */
function changesOf(answers: readonly (readonly WatchedAnswer[])[]): Pick<Simulated, "transfers" | "approvals"> {
  const transfers: Simulated["transfers"][number][] = [];
  const approvals: Simulated["approvals"][number][] = [];
  for (const { question, answer, before } of withAnswerBefore(answers)) {
    const { token, account } = question;
    if (question.about === "allowance") {
      if (answer > before) approvals.push({ token, owner: account, spender: question.spender, amount: answer });
    } else if (answer > before) transfers.push({ token, from: NATIVE_TOKEN, to: account, amount: answer - before });
    else if (answer < before) transfers.push({ token, from: account, to: NATIVE_TOKEN, amount: before - answer });
  }
  return { transfers, approvals };
}

/** Each reading but the first, question by question, with the answer of the one before. */
function withAnswerBefore(answers: readonly (readonly WatchedAnswer[])[]) {
  return answers.slice(1).flatMap((answerIndex, index) =>
    answerIndex.map(({ question, answer = 0n }, place) => {
      const before = answers[index]?.[place]?.answer ?? 0n;
      return { question, answer, before };
    }),
  );
}

/** What a transaction of its own would use, rather too much than too little: refunds are not taken off. */
function gasOf(data: Hex, used: bigint): bigint {
  const bytes = data.slice(2).match(/../g) ?? [];
  const zeros = BigInt(bytes.filter((byte) => byte === "00").length);
  const others = BigInt(bytes.length) - zeros;
  const cost = ({ zero, other }: typeof DATA_GAS): bigint => zeros * zero + others * other;
  const whole = cost(DATA_GAS) + used + WATCH_GAS;
  const floor = cost(DATA_FLOOR_GAS);
  return BASE_GAS + larger(whole, floor);
}

import { malformedAnswer } from "../../chain/at-block/head.ts";
import { signed, splitWords } from "../../chain/at-block/words.ts";
import type { JsonRpc } from "../../chain/json-rpc.ts";
import { type Address, type Hex, isHex, NATIVE_TOKEN, toAddress } from "../../domain/money/address.ts";
import { formatPercent } from "../../domain/money/fraction.ts";
import type { TOKEN_ERRORS } from "../errors/token-errors.ts";
import { type ExtraGas, extraGasOf } from "../gas/extra-gas.ts";
import { HAND_CODE, PROBE_CODE } from "./probe-code.ts";

/** What probes of a token's transfers showed. */
export type TransferVerdict =
  | {
      readonly kind: "exact";
      readonly extraGas: ExtraGas;
    }
  | { readonly kind: "inexact"; readonly error: keyof typeof TOKEN_ERRORS; readonly detail: string };

/** A token, and the pools that may hold it. */
export interface ProbeRequest {
  readonly token: Address;
  readonly holders: readonly Address[];
  /** where there is none, and for the executor, unused addresses stand in */
  readonly settlement: Address | undefined;
  readonly executor: Address | undefined;
  /** ends the wait for a node in silence */
  readonly signal?: AbortSignal;
}

/**
 * Addresses without a known key or contract: their names in ASCII. Code is injected into them for one `eth_call`. The
 * source of the hand (contracts/lent/Hand.yul) has them, too.
 */
export const PROBE_ADDRESS = toAddress("0x7377617064207472616e736665722070726f6265");
export const POOL_CODE_ADDRESS = toAddress("0x7377617064207265616c20706f6f6c20636f6465");

const STAND_IN = {
  executor: toAddress("0x73776170642070726f6265206578656375746f72"),
  settlement: toAddress("0x73776170642070726f6265207370656e64657200"),
  wallet: toAddress("0x73776170642070726f626527732077616c6c6574"),
};

const MOVES = 8;
const WORDS_OF_MOVE = 5;

/** Tokens that count in shares are off by one or two units; a tax takes more of any amount that is tried. */
const ROUNDING = 3n;

interface Move {
  readonly index: number;
  readonly succeeded: boolean;
  readonly amount: bigint;
  /** what left the sender, and what arrived; negative where a balance moved the other way */
  readonly debited: bigint;
  readonly credited: bigint;
  readonly gas: bigint;
}

interface ProbeResult {
  /** undefined: no pool holds any */
  readonly holder: Address | undefined;
  /** gas of the first read of a balance, and of the same read once more */
  readonly firstRead: bigint;
  readonly secondRead: bigint;
  readonly moves: readonly Move[];
}

/** Many times what all transfers of a usual token use; a token that wastes more of it gets no verdict. */
const PROBE_GAS: Hex = "0x989680";

/**
 * Tries a token's transfers in one `eth_call` that injects code: into the pools that may hold it, which keep their
 * addresses and balances, into the executor, the settlement and a wallet. An odd amount of about a thousandth of what
 * the deepest pool holds goes the whole way of a swap: out of the pool, on to a wallet, back by the settlement's
 * `transferFrom`, and into the pool; at each step is measured what left, what arrived, and the gas. Then once more with
 * another amount. A token that fails is tried again with the pool's real code within reach of the token, for some read
 * it. It does not see: a supply that changes without transfers, other taxes for other accounts or later, and a token
 * that recognises the probe. A token that forbids buying and selling in one block looks as if it could not be sold.
 * @returns undefined when no pool holds enough of the token to judge
 * @throws RpcError when the node does not answer, or cannot inject code: no verdict
 */
export async function probeTransfers(rpc: JsonRpc, request: ProbeRequest): Promise<TransferVerdict | undefined> {
  const verdict = judge(await tryTransfers(rpc, request), request.token);
  if (verdict === undefined || verdict.kind === "exact" || verdict.holder === undefined) return verdict;
  const poolCode = await rpc.call("eth_getCode", [verdict.holder, "latest"], request.signal);
  if (!isHex(poolCode)) throw malformedAnswer(rpc.host, "the node's answer to a question for code is no byte string");
  return judge(await tryTransfers(rpc, { ...request, holders: [verdict.holder] }, poolCode), request.token);
}

async function tryTransfers(rpc: JsonRpc, request: ProbeRequest, poolCode: Hex = "0x"): Promise<ProbeResult> {
  const { token, holders, executor = STAND_IN.executor, settlement = STAND_IN.settlement, signal } = request;
  const hands = [...holders, executor, settlement, STAND_IN.wallet];
  const lent = {
    ...Object.fromEntries(hands.map((hand) => [hand, { code: HAND_CODE }])),
    [POOL_CODE_ADDRESS]: { code: poolCode },
    [PROBE_ADDRESS]: { code: PROBE_CODE },
  };
  const input = [token, executor, settlement, STAND_IN.wallet, ...holders].map((address) => address.slice(2));
  const call = { to: PROBE_ADDRESS, data: `0x${input.join("")}`, gas: PROBE_GAS };
  const answer = await rpc.call("eth_call", [call, "latest", lent], signal);
  const result = isHex(answer) ? readProbe(answer, holders) : undefined;
  if (result === undefined) throw malformedAnswer(rpc.host, "the node's answer to a probe of transfers is malformed");
  return result;
}

/** Reads what the probe wrote; undefined where the probe cannot have written it. */
function readProbe(answer: Hex, holders: readonly Address[]): ProbeResult | undefined {
  const [first, firstRead, secondRead, ...words] = splitWords(answer);
  if (firstRead === undefined || secondRead === undefined) return undefined;
  if (answer.length !== 2 + 64 * (3 + words.length)) return undefined;
  const holder = holders.find((candidate) => BigInt(candidate) === first);
  if (holder === undefined && (first !== BigInt(NATIVE_TOKEN) || words.length > 0)) return undefined;
  const moves: Move[] = [];
  for (let at = 0; at < words.length; at += WORDS_OF_MOVE) {
    const move = readMove(words.slice(at, at + WORDS_OF_MOVE), moves.length);
    if (move === undefined) return undefined;
    moves.push(move);
  }
  return isWhole(moves) ? { holder, firstRead, secondRead, moves } : undefined;
}

function readMove(words: readonly bigint[], index: number): Move | undefined {
  const [succeeded, amount, debited, credited, gas] = words;
  if (succeeded === undefined || succeeded > 1n || amount === undefined || amount === 0n) return undefined;
  if (debited === undefined || credited === undefined || gas === undefined) return undefined;
  const balances = { debited: signed(debited, 256), credited: signed(credited, 256) };
  return { index, succeeded: succeeded === 1n, amount, ...balances, gas };
}

/** The probe stops at the first move that is not exact. */
function isWhole(moves: readonly Move[]): boolean {
  const last = moves.at(-1);
  const endsWell = last === undefined || moves.length === MOVES || !isExact(last);
  return endsWell && moves.length <= MOVES && moves.slice(0, -1).every(isExact);
}

function isExact({ succeeded, amount, debited, credited }: Move): boolean {
  return succeeded && debited === amount && credited === amount;
}

function judge(
  { holder, moves, ...looks }: ProbeResult,
  token: Address,
): (TransferVerdict & { holder?: Address }) | undefined {
  const last = moves.at(-1);
  if (last === undefined || holder === undefined) return undefined;
  if (isExact(last)) {
    return { kind: "exact", extraGas: extraGasOf({ ...looks, transfers: moves.map(({ gas }) => gas) }) };
  }
  return { kind: "inexact", ...explain(last, token, holder), holder };
}

function explain(
  { index, succeeded, amount, debited, credited }: Move,
  token: Address,
  holder: Address,
): Pick<Extract<TransferVerdict, { kind: "inexact" }>, "error" | "detail"> {
  const places = [
    `out of the pool ${holder}`,
    "to a wallet",
    "from a wallet by transferFrom",
    `into the pool ${holder}`,
  ] as const;
  const place = places[index % places.length];
  if (!succeeded) {
    const error = place === places[3] ? "TOKEN_UNSELLABLE" : "TOKEN_FROZEN";
    return { error, detail: `moving ${amount} of ${token} ${place} fails` };
  }
  const moved = `of ${amount}, ${debited} left and ${credited} arrived`;
  const isShort = credited < amount;
  const taken = isShort ? amount - credited : debited - amount;
  if (taken <= ROUNDING) return { error: "TOKEN_INEXACT", detail: `when ${token} is moved ${place}: ${moved}` };
  // To the basis point: the token rounded, too.
  const share = formatPercent(((taken * 10_000n + amount / 2n) / amount) * 100n);
  const base = isShort ? "of" : "on top of";
  return { error: "TOKEN_TAXED", detail: `${token} takes ${share} ${base} what is moved ${place}: ${moved}` };
}

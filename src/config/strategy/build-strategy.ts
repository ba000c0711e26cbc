import { isNative } from "../../domain/money/token.ts";
import type { StrategySpec } from "../../domain/strategy/spec.ts";
import { tradedTokens } from "../../domain/strategy/strategy.ts";
import { didYouMean } from "../closest.ts";
import { at, type Complaint, type Part, refuse, sound } from "../complaint.ts";
import { REFUSED } from "../source.ts";
import { placeOfToken } from "../token-place.ts";
import { FILE_KINDS } from "./kinds.ts";
import { inPolicy, type StrategyFile } from "./scope.ts";

/** A strategy from its file. @returns undefined when something of it is broken; then it complained of that */
export function buildStrategy(file: StrategyFile, id: string): Part<StrategySpec> {
  return sound(build(file, id));
}

function* build(file: StrategyFile, id: string): Part<StrategySpec> {
  const spec = yield* buildKind(file, id);
  if (spec === undefined) return spec;
  yield* checkTradedTokens(file, spec);
  yield* checkTreasury(file, spec);
  return spec;
}

function* buildKind(file: StrategyFile, id: string): Part<StrategySpec> {
  const { data } = file;
  const kind = typeof data === "object" && data !== null && "kind" in data ? data.kind : undefined;
  const found = typeof kind === "string" && Object.hasOwn(FILE_KINDS, kind) ? FILE_KINDS[kind] : undefined;
  if (found !== undefined) return yield* found.build(file, id);
  if (kind === REFUSED || data === REFUSED) return undefined;
  if (Array.isArray(data))
    return yield* refuse`: the file holds a list, and a strategy is one map of keys -> give each strategy a file of its own, without the dash`;
  const kinds = Object.keys(FILE_KINDS);
  const fix = didYouMean(typeof kind === "string" ? kind : "", kinds, `kinds are ${kinds.join(", ")}`);
  return yield* refuse`kind: ${kind === undefined ? 'the key "kind" is missing' : "is no kind of strategy"} -> ${fix}`;
}

/** The policy over a strategy: whatever it trades beyond the listed tokens is refused, with both places. */
function* checkTradedTokens(file: StrategyFile, spec: StrategySpec): Iterable<Complaint> {
  const { policy } = file.scope;
  for (const { symbol, address } of tradedTokens(spec))
    if (policy !== undefined && !policy.tokens.includes(address))
      yield at`${placeOfToken(file.data, symbol)}: ${symbol} is none of the tokens that the policy allows${inPolicy(file, "tokens")} -> let the owner add it there, or trade another token`;
}

/** What a proposal to the owners of a Safe cannot carry. */
function* checkTreasury(file: StrategyFile, spec: StrategySpec): Iterable<Complaint> {
  const { name, address } = spec.wallet;
  if (file.scope.wallets.get(name)?.proposals === undefined) return;
  if (spec.recipient !== address)
    yield at`recipient: the swaps of a Safe pay the Safe itself -> leave the key out; its owners may send on what was bought`;
  for (const token of tradedTokens(spec))
    if (isNative(token))
      yield at`${placeOfToken(file.data, token.symbol)}: a Safe swaps tokens, and ${token.symbol} is the native coin -> trade the wrapped token`;
}

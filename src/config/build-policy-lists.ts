import type { Address } from "../domain/money/address.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import { tradedTokens } from "../domain/strategy/strategy.ts";
import { closest } from "./closest.ts";
import type { TokenConfiguration } from "./configuration.ts";
import { address } from "./fields.ts";
import type { Problem } from "./problem.ts";
import { describePlace, type Path, problemAt, type Source } from "./source.ts";
import { placeOfToken } from "./token-place.ts";

/** The tokens of the main file, by symbol; `names` also has those that are broken: their problem is reported already. */
export interface KnownTokens {
  readonly tokens: ReadonlyMap<string, TokenConfiguration>;
  readonly names: readonly string[];
}

/** What may be traded: the tokens that the policy lists, or all of the main file. */
export function buildAllowedTokens(
  source: Source,
  listed: readonly string[] | undefined,
  known: KnownTokens,
  problems: Problem[],
): readonly Address[] {
  if (listed === undefined) return [...known.tokens.values()].map(({ token }) => token.address);
  return listed.flatMap((text, index) => {
    const found = findListed(source, ["tokens", index], { text, known }, problems);
    return found === undefined ? [] : [found];
  });
}

function findListed(
  source: Source,
  path: Path,
  from: { text: string; known: KnownTokens },
  problems: Problem[],
): Address | undefined {
  const { text, known } = from;
  const token = known.tokens.get(text)?.token;
  if (token !== undefined) return token.address;
  if (known.names.includes(text)) return undefined;
  if (text.startsWith("0x")) return parseListed(source, path, { text, description: "a token" }, problems);
  if (known.names.length === 0 || known.tokens.size === 0) return undefined;
  const symbols = [...known.tokens.keys()];
  const meant = closest(text, symbols);
  const suggestion =
    meant === undefined ? `tokens are ${symbols.join(", ")}; an address stands in quotes` : `did you mean "${meant}"?`;
  problems.push(problemAt(source, path, `"${text}" is neither a token of the main file nor an address`, suggestion));
  return undefined;
}

/** The contracts that may be approved: those that the policy lists, or the pinned settlement contract alone. */
export function buildSpenders(
  source: Source,
  listed: readonly string[] | undefined,
  settlement: Address | undefined,
  problems: Problem[],
): readonly Address[] {
  if (listed === undefined) return settlement === undefined ? [] : [settlement];
  return listed.flatMap((text, index) => {
    const found = parseListed(source, ["spenders", index], { text, description: "a contract" }, problems);
    return found === undefined ? [] : [found];
  });
}

function parseListed(
  source: Source,
  path: Path,
  from: { text: string; description: string },
  problems: Problem[],
): Address | undefined {
  const parsed = address(from.description).safeParse(from.text);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const suggestion = issue?.code === "custom" ? String(issue.params?.suggestion) : undefined;
  problems.push(problemAt(source, path, issue?.message ?? "is no address", suggestion));
  return undefined;
}

/** The policy over the main file: a settlement contract that the owner did not list is refused, with both places. */
export function checkSettlement(
  source: Source,
  chosen: { settlement: Address | undefined; isNamed: boolean },
  policy: { spenders: readonly Address[]; source: Source },
  problems: Problem[],
): void {
  const { settlement, isNamed } = chosen;
  if (settlement === undefined || policy.spenders.includes(settlement)) return;
  const place = describePlace(policy.source, ["spenders"]);
  const message = `the settlement contract ${settlement} is none of the spenders that the policy allows (${place})`;
  const path = isNamed ? ["service", "settlement"] : ["network"];
  problems.push(problemAt(source, path, message, "verify the contract, and let the owner add it there"));
}

/** The policy over a strategy: whatever it trades beyond the listed tokens is refused, with both places. */
export function checkTradedTokens(
  source: Source,
  spec: StrategySpec,
  policy: { tokens: readonly Address[]; source: Source },
  problems: Problem[],
): void {
  for (const { symbol, address } of tradedTokens(spec)) {
    if (policy.tokens.includes(address)) continue;
    const message = `${symbol} is none of the tokens that the policy allows (${describePlace(policy.source, ["tokens"])})`;
    const suggestion = "let the owner add it there, or trade another token";
    problems.push(problemAt(source, placeOfToken(source, symbol), message, suggestion));
  }
}

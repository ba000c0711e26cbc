import { readCount } from "../../net/retry-after.ts";

/**
 * The `RateLimit` fields of HTTP, in the forms of all drafts of the IETF, as far as they say something about calls:
 *
 * - three fields, as Kong and the drafts up to 06 have them: `RateLimit-Limit: 100, 100;w=10`, `-Remaining`, `-Reset`
 * - one dictionary, draft 07: `RateLimit: limit=100, remaining=50, reset=5`
 * - lists of named items, drafts 08 and later: `RateLimit: "default";r=50;t=30`, `RateLimit-Policy: "default";q=100;w=10`
 *
 * What does not have its form is ignored as a whole: a limit that was guessed could stop all calls.
 */

/** What one field says; undefined where it says nothing. */
export interface RateStatement {
  /** calls per second, on average over the window */
  readonly limit?: number | undefined;
  readonly remaining?: number | undefined;
  readonly resetSeconds?: number | undefined;
}

interface Item {
  /** name or number in front */
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const LONGEST_FIELD = 1_000;
const MEMBER_PATTERN =
  /^("[\x20\x21\x23-\x5b\x5d-\x7e]{0,64}"|[A-Za-z0-9*][A-Za-z0-9_.:/*-]{0,64})((?:; *[a-z*][a-z0-9_.*-]*=[^;,]{1,128})*)$/;
const DICTIONARY_PATTERN = /^(limit|remaining|reset)=([0-9]{1,9})$/;

/** Reads all that an answer's fields say about its limits. */
export function readRateFields(header: (name: string) => string | null): readonly RateStatement[] {
  const policies = readItems(header("ratelimit-policy")) ?? [];
  const policyLimits = policies.filter(countsCalls).map((policy) => ({ limit: limitOf(policy) }));
  return [
    {
      limit: readCount(header("x-ratelimit-limit-second")),
      remaining: readCount(header("x-ratelimit-remaining-second")),
    },
    ...readTriple(
      header,
      policyLimits.some(({ limit }) => limit !== undefined),
    ),
    ...(readDictionary(header("ratelimit"), policyLimits) ?? readNamed(header("ratelimit"), policies)),
    ...policyLimits,
  ];
}

function readTriple(header: (name: string) => string | null, hasPolicy: boolean): readonly RateStatement[] {
  const [first, ...windows] = readItems(header("ratelimit-limit")) ?? [];
  const resetSeconds = readCount(header("ratelimit-reset"));
  const statement = { remaining: readCount(header("ratelimit-remaining")), resetSeconds };
  if (first === undefined || (first.parameters.size > 0 && limitOf(first) === undefined)) return [statement];
  if (!windows.every((window) => limitOf(window) !== undefined)) return [statement];
  const stated = [first, ...windows].map(limitOf).filter((limit) => limit !== undefined);
  if (stated.length > 0) return [statement, ...stated.map((limit) => ({ limit }))];
  return [{ ...statement, limit: unlessLonger(readCount(first.value), { resetSeconds, hasPolicy }) }];
}

function readDictionary(
  text: string | null,
  policyLimits: readonly RateStatement[],
): readonly RateStatement[] | undefined {
  const members = membersOf(text)?.map((member) => DICTIONARY_PATTERN.exec(member));
  if (members === undefined || !members.every((member) => member !== null)) return undefined;
  const values = new Map(members.map(([, name = "", value]) => [name, Number(value)]));
  if (values.size !== members.length) return [];
  const resetSeconds = values.get("reset");
  const hasPolicy = policyLimits.some(({ limit }) => limit !== undefined);
  const limit = unlessLonger(values.get("limit"), { resetSeconds, hasPolicy });
  return [{ limit, remaining: values.get("remaining"), resetSeconds }];
}

function readNamed(text: string | null, policies: readonly Item[]): readonly RateStatement[] {
  const others = new Set(policies.filter((policy) => !countsCalls(policy)).map(({ value }) => value));
  return (readItems(text) ?? [])
    .filter(({ value }) => !others.has(value))
    .map(({ parameters }) => ({
      remaining: readCount(parameters.get("r")),
      resetSeconds: readCount(parameters.get("t")),
    }))
    .filter(({ remaining }) => remaining !== undefined);
}

/** A window that is not stated is a second, unless more than that is left of it: then its limit is no rate. */
function unlessLonger(
  limit: number | undefined,
  window: { readonly resetSeconds: number | undefined; readonly hasPolicy: boolean },
): number | undefined {
  return limit === 0 || !(window.hasPolicy || (window.resetSeconds ?? 0) > 1) ? limit : undefined;
}

/** Quotas of bytes or of work at the same time say nothing about calls. */
function countsCalls({ parameters }: Item): boolean {
  const unit = parameters.get("qu");
  return unit === undefined || unit === '"requests"';
}

/** `10;w=1` or `"name";q=100;w=10`, as calls per second. */
function limitOf({ value, parameters }: Item): number | undefined {
  const quota = readCount(parameters.get("q")) ?? readCount(value);
  const window = readCount(parameters.get("w"));
  return quota === undefined || window === undefined || window === 0 ? undefined : quota / window;
}

function readItems(text: string | null): readonly Item[] | undefined {
  const items = membersOf(text)?.map(readItem);
  return items?.every((item) => item !== undefined) === true ? items : undefined;
}

function readItem(member: string): Item | undefined {
  const [, value, rest = ""] = MEMBER_PATTERN.exec(member) ?? [];
  if (value === undefined) return undefined;
  const pairs = rest
    .split(";")
    .slice(1)
    .map((pair) => pair.trim().split("="));
  return { value, parameters: new Map(pairs.map(([name = "", text = ""]) => [name, text])) };
}

function membersOf(text: string | null): readonly string[] | undefined {
  if (text === null || text.length > LONGEST_FIELD) return undefined;
  return text.split(",").map((member, index) => (index === 0 ? member : member.trimStart()));
}

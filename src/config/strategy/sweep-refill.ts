import { formatAmount } from "../../domain/money/amount.ts";
import { isNative, type Token } from "../../domain/money/token.ts";
import type { StrategyCommon } from "../../domain/strategy/common.ts";
import type { Refill } from "../../domain/strategy/sweep.ts";
import { describePlace, problemAt, problemAtKey } from "../source.ts";
import { readAmountOf, type StrategyFile } from "./scope.ts";
import type { SweepFields } from "./sweep-schema.ts";

/**
 * The marks of a gas tank. The lower one lies above what the policy keeps for gas and the last resort together, so a
 * refill begins while its own gas can still be paid.
 */
export function buildRefill(
  file: StrategyFile,
  fields: SweepFields,
  known: { readonly to: Token | undefined; readonly common: StrategyCommon | undefined },
): Refill | undefined {
  const { source, problems, scope } = file;
  const { to, common } = known;
  if (to !== undefined && !isNative(to)) {
    const message = `is ${to.symbol}, but native_below refills the native coin`;
    const native = [...scope.tokens.values()].find(({ token }) => isNative(token))?.token.symbol;
    const suggestion = `write ${native ?? "the native coin"}, or use when: { above: ... }`;
    problems.push(problemAt(source, ["to"], message, suggestion));
    return undefined;
  }
  if (common !== undefined && common.recipient !== common.wallet.address) {
    const message = "a refill that goes elsewhere fills no gas tank of this wallet";
    problems.push(problemAt(source, ["recipient"], message, "drop recipient"));
  }
  const below = readAmountOf(file, ["when", "native_below"], fields.when?.native_below, to);
  const upper = readAmountOf(file, ["refill_to"], fields.refill_to, to);
  const asked = readAmountOf(file, ["last_resort"], fields.last_resort, to);
  if (fields.refill_to === undefined) {
    const message = 'the key "refill_to" is missing: a refill needs an upper mark';
    problems.push(problemAt(source, [], message, 'for example refill_to: "0.06 ETH"'));
  }
  if (to === undefined || below === undefined || upper === undefined || scope.policy === undefined) return undefined;
  if (upper <= below) {
    problems.push(
      problemAt(
        source,
        ["refill_to"],
        "does not lie above native_below",
        `use more than ${formatAmount({ token: to, raw: below })}`,
      ),
    );
    return undefined;
  }
  const { gasReserve } = scope.policy;
  const lastResort = asked ?? (below > gasReserve ? (below - gasReserve) / 2n : 0n);
  if (lastResort > 0n && below >= gasReserve + lastResort) return { below, to: upper, lastResort };
  const show = (raw: bigint): string => formatAmount({ token: to, raw });
  const place = scope.policySource === undefined ? "" : ` (${describePlace(scope.policySource, ["gas_reserve"])})`;
  const resort = asked === undefined ? "" : ` and the last resort of ${show(asked)}`;
  const message = `${show(below)} does not lie above the policy's gas_reserve of ${show(gasReserve)}${place}${resort}: a refill could not pay its gas`;
  const least = show(gasReserve + (asked ?? 0n));
  problems.push(problemAt(source, ["when", "native_below"], message, `use more than ${least}`));
  return undefined;
}

/** Keys of a gas tank mean nothing to a sweep, and the other way round. */
export function checkForm(file: StrategyFile, fields: SweepFields): "sweep" | "refill" | undefined {
  const { source, problems } = file;
  const { when } = fields;
  if (when === undefined) return undefined;
  if ((when.above === undefined) === (when.native_below === undefined)) {
    const message = "needs exactly one of above and native_below";
    const suggestion = when.above === undefined ? 'for example { above: "500 USD" }' : "drop one of the two";
    problems.push(problemAt(source, ["when"], message, suggestion));
    return undefined;
  }
  if (when.native_below !== undefined) return "refill";
  for (const key of ["refill_to", "last_resort"] as const) {
    if (fields[key] === undefined) continue;
    problems.push(problemAtKey(source, [key], "belongs to when: { native_below: ... }", "drop it"));
  }
  return "sweep";
}

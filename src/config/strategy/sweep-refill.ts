import { formatAmount } from "../../domain/money/amount.ts";
import { isNative, type Token } from "../../domain/money/token.ts";
import type { StrategyCommon } from "../../domain/strategy/common.ts";
import type { Refill } from "../../domain/strategy/sweep.ts";
import { at, atKey, type Part, refuse } from "../complaint.ts";
import { inPolicy, readAmountOf, type StrategyFile } from "./scope.ts";
import type { SweepFields } from "./sweep-schema.ts";

/**
 * The thresholds of a gas tank. The lower one lies above what the policy keeps for gas and the last resort together, so a
 * refill begins while its own gas can still be paid.
 */
export function* buildRefill(
  file: StrategyFile,
  fields: SweepFields,
  { to, common }: { readonly to: Token | undefined; readonly common: StrategyCommon | undefined },
): Part<Refill> {
  const { tokens, policy } = file.scope;
  if (to !== undefined && !isNative(to)) {
    const native = [...tokens.values()].find(({ token }) => isNative(token))?.token.symbol ?? "the native coin";
    return yield* refuse`to: is ${to.symbol}, but native_below refills the native coin -> write ${native}, or use when: { above: ... }`;
  }
  if (common !== undefined && common.recipient !== common.wallet.address)
    yield at`recipient: a refill that goes elsewhere fills no gas tank of this wallet -> drop recipient`;
  const below = yield* readAmountOf(file, ["when", "native_below"], fields.when?.native_below, to);
  const upper = yield* readAmountOf(file, ["refill_to"], fields.refill_to, to);
  const asked = yield* readAmountOf(file, ["last_resort"], fields.last_resort, to);
  if (fields.refill_to === undefined)
    yield at`: the key "refill_to" is missing: a refill needs an upper threshold -> for example refill_to: "0.06 ETH"`;
  if (to === undefined || below === undefined || upper === undefined || policy === undefined) return undefined;
  const show = (raw: bigint): string => formatAmount({ token: to, raw });
  if (upper <= below) return yield* refuse`refill_to: does not lie above native_below -> use more than ${show(below)}`;
  const { gasReserve } = policy;
  const lastResort = asked ?? (below > gasReserve ? (below - gasReserve) / 2n : 0n);
  if (lastResort > 0n && below >= gasReserve + lastResort) return { below, to: upper, lastResort };
  const reserve = `gas_reserve of ${show(gasReserve)}${inPolicy(file, "gas_reserve")}`;
  const kept = asked === undefined ? reserve : `${reserve} and the last resort of ${show(asked)}`;
  const least = show(gasReserve + (asked ?? 0n));
  return yield* refuse`when.native_below: ${show(below)} does not lie above the policy's ${kept}: a refill could not pay its gas -> use more than ${least}`;
}

/** Keys of a gas tank mean nothing to a sweep, and the other way round. */
export function* checkForm({ when, ...fields }: SweepFields): Part<"sweep" | "refill"> {
  if (when === undefined) return undefined;
  const fix = when.above === undefined ? 'for example { above: "500 USD" }' : "drop one of the two";
  if ((when.above === undefined) === (when.native_below === undefined))
    return yield* refuse`when: needs exactly one of above and native_below -> ${fix}`;
  if (when.native_below !== undefined) return "refill";
  for (const key of ["refill_to", "last_resort"] as const)
    if (fields[key] !== undefined) yield atKey`${key}: belongs to when: { native_below: ... } -> drop it`;
  return "sweep";
}

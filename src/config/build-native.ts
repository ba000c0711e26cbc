import { parseUnits } from "../domain/money/amount.ts";
import { type Part, type Path, refuse } from "./complaint.ts";
import type { MoneyText } from "./units.ts";

/** Decimals of the native coin of every network. */
export const NATIVE_DECIMALS = 18;

/** An amount of the native coin in wei: what pays gas is nothing else. */
export function* buildNative(path: Path, money: MoneyText | undefined, symbol: string): Part<bigint> {
  if (money === undefined) return undefined;
  const { number } = money;
  if (money.symbol !== symbol)
    return yield* refuse`${path}: gas is paid in ${symbol} here, not in ${money.symbol} -> write "${number} ${symbol}"`;
  const raw = parseUnits(number, NATIVE_DECIMALS);
  return typeof raw === "bigint" ? raw : yield* refuse`${path}: "${number}": ${raw}`;
}

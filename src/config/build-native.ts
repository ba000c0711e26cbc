import { parseUnits } from "../domain/money/amount.ts";
import type { Problem } from "./problem.ts";
import { type Path, problemAt, type Source } from "./source.ts";
import type { MoneyText } from "./units.ts";

const NATIVE_DECIMALS = 18;

/** An amount of the native coin in wei: what pays gas is nothing else. */
export function buildNative(
  source: Source,
  field: { path: Path; money: MoneyText | undefined; nativeSymbol: string },
  problems: Problem[],
): bigint | undefined {
  const { path, money, nativeSymbol } = field;
  if (money === undefined) return undefined;
  const raw = parseUnits(money.number, NATIVE_DECIMALS);
  if (money.symbol !== nativeSymbol) {
    const message = `gas is paid in ${nativeSymbol} here, not in ${money.symbol}`;
    problems.push(problemAt(source, path, message, `write "${money.number} ${nativeSymbol}"`));
    return undefined;
  }
  if (typeof raw === "bigint") return raw;
  problems.push(problemAt(source, path, `"${money.number}": ${raw}`));
  return undefined;
}

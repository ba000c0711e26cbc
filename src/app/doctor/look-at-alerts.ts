import { isDenialCode } from "../../domain/guard/denial.ts";
import type { StatusDocument } from "../commands/status-document.ts";
import { alertCommand } from "./alert-commands.ts";
import { fine, type Judged } from "./diagnosis.ts";

/** Every alert that is open, with the first command of its runbook; the next one where that is what was just typed. */
export function judgeAlerts({ openAlerts }: StatusDocument): readonly Judged[] {
  if (openAlerts.length === 0) return [fine("open", "none")];
  return openAlerts.map(({ code, severity, text, at, strategy, subject }): Judged => {
    const found = `since ${at}: ${text} (${pageOf(code)})`;
    const first = alertCommand(code, strategy ?? undefined);
    const next = code === "SWAP_UNKNOWN" ? `swapd show ${subject.replace(/^swap /, "")}` : "swapd check";
    const mend = first === "swapd doctor" ? next : first;
    if (severity === "info") return fine(code, found);
    return { what: code, state: severity === "critical" ? "error" : "warning", found, mend };
  });
}

/** Where its runbook is: a strategy's own ends share one. */
function pageOf(code: string): string {
  if (isDenialCode(code)) return "docs/ERRORS.md";
  return `docs/RUNBOOKS.md#${code.startsWith("strategy_") ? "a-strategys-own-end" : code.toLowerCase()}`;
}

import { isDenialCode } from "../../domain/guard/denial.ts";
import type { StatusDocument } from "../commands/status-document.ts";
import { alertCommand } from "./alert-commands.ts";
import { fine, type Judged } from "./diagnosis.ts";

/** Every alert that is open, with the first command of its runbook. */
export function judgeAlerts({ openAlerts }: StatusDocument): readonly Judged[] {
  if (openAlerts.length === 0) return [fine("open", "none")];
  return openAlerts.map(({ code, severity, text, at, strategy }): Judged => {
    const page = isDenialCode(code) ? "docs/ERRORS.md" : `docs/RUNBOOKS.md#${code.toLowerCase()}`;
    const found = `since ${at}: ${text} (${page})`;
    const mend = alertCommand(code, strategy ?? undefined);
    if (severity === "info") return fine(code, found);
    return { what: code, state: severity === "critical" ? "error" : "warning", found, mend };
  });
}

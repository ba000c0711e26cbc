import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { StatusDocument } from "../../src/app/commands/status-document.ts";
import { judgeAlerts } from "../../src/app/doctor/look-at-alerts.ts";

/** The anchors of a page's headings, as its readers make them. */
const anchors = readFileSync("docs/RUNBOOKS.md", "utf8")
  .split("\n")
  .filter((line) => line.startsWith("## "))
  .map((line) =>
    line
      .slice(3)
      .toLowerCase()
      .replaceAll(/[^a-z0-9 _-]/g, "")
      .replaceAll(" ", "-"),
  );

test.each([
  // The runbook begins with what was just typed.
  ["NODE_UNREACHABLE", "critical", "swapd check"],
  ["SWAP_UNKNOWN", "critical", "swapd show run_1.0.1"],
  ["strategy_unsold", "warning", "swapd why weekly"],
])("the doctor's line for %s leads to a runbook that is there", (code, severity, mend) => {
  const subject = "swap run_1.0.1";
  const alert = { code, severity, subject, text: "it is over", at: "2026-01-01T00:00:00Z", strategy: "weekly" };
  const [line] = judgeAlerts({ openAlerts: [alert] } as unknown as StatusDocument);
  const [, anchor = ""] = /docs\/RUNBOOKS\.md#([^)]+)/.exec(line?.found ?? "") ?? [];
  expect(anchors).toContain(anchor);
  expect(line?.mend).toBe(mend);
});

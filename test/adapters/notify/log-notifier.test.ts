import { expect, it } from "vitest";
import { createLogNotifier } from "../../../src/adapters/notify/log-notifier.ts";
import type { LogFields, Logger } from "../../../src/ports/logger.ts";

it("logs a message at the level of its severity, with its code", () => {
  const lines: [string, LogFields, string][] = [];
  const at = (level: string) => (fields: LogFields, message: string) => void lines.push([level, fields, message]);
  const logger: Logger = {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: () => logger,
  };
  const notifier = createLogNotifier(logger);
  for (const severity of ["info", "warning", "critical"] as const) {
    notifier.notify({ severity, code: "SWAP_UNKNOWN", text: "look at it", fields: { runId: "r" } });
  }
  expect(lines.map(([level]) => level)).toEqual(["info", "warn", "error"]);
  expect(lines[2]).toEqual(["error", { severity: "critical", code: "SWAP_UNKNOWN", runId: "r" }, "look at it"]);
});

import type { Logger } from "../../ports/logger.ts";
import type { Notifier } from "../../ports/notifier.ts";

/** Notifies people by the log: the one channel that is always there. */
export function createLogNotifier(logger: Logger): Notifier {
  return {
    notify: ({ severity, code, text, fields }) => {
      const level = severity === "critical" ? "error" : severity === "warning" ? "warn" : "info";
      logger[level]({ ...fields, severity, code }, text);
    },
  };
}

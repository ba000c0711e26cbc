import type { Severity } from "../domain/run/alert.ts";

/** Notifies people. Delivery never delays a swap. */
export interface Notifier {
  notify(message: { severity: Severity; code: string; text: string; fields: Readonly<Record<string, unknown>> }): void;
}

/** How much a message matters: `critical` wakes somebody up. */
export type Severity = "info" | "warning" | "critical";

/** Tells people. Delivery is best effort and never delays a swap. */
export interface Notifier {
  notify(message: { severity: Severity; code: string; text: string; fields: Readonly<Record<string, unknown>> }): void;
}

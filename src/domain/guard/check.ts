import type { Denial, DenialCode } from "./denial.ts";

/** One comparison that was made before signing: what was found, what was allowed. Shown by `why`. */
export interface Check {
  readonly code: DenialCode;
  /** which field or quantity was checked, in the words of the service interface */
  readonly subject: string;
  readonly value: string;
  readonly limit: string;
  readonly ok: boolean;
}

/** The denial of the first check that is not ok, undefined when all are. */
export function firstDenial(checks: readonly Check[]): Denial | undefined {
  const broken = checks.find((check) => !check.ok);
  if (broken === undefined) return undefined;
  return { code: broken.code, fields: { subject: broken.subject, value: broken.value, limit: broken.limit } };
}

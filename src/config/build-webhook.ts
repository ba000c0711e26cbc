import type { Configuration, WebhookConfiguration } from "./configuration.ts";
import { DEFAULTS } from "./defaults.ts";
import { absoluteReference } from "./references.ts";
import type { MainFile } from "./schemas/main-schema.ts";
import type { Source } from "./source.ts";

/** Where alerts are sent. Both references are opened at start, and by nobody before. */
export function buildWebhook(source: Source, fields: MainFile["alerts"] | undefined): WebhookConfiguration | undefined {
  if (fields?.webhook === undefined) return undefined;
  const { url, secret, minimum = DEFAULTS.alertsFrom } = fields.webhook;
  return { url: absoluteReference(source, url), secret: absoluteReference(source, secret), minimum };
}

/** What people are told beside what needs them. */
export function buildTold(fields: MainFile["alerts"] | undefined): Configuration["told"] {
  const { fills = false, starts = false, sameEnds = DEFAULTS.sameEnds } = fields ?? {};
  return { fills, starts, sameEnds };
}

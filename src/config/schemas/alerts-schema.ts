import { z } from "zod";
import { SEVERITIES } from "../../domain/run/alert.ts";
import { count, flag, maybe, maybeMap, name, or, orEmpty, secretReference, text } from "../fields.ts";
import { milliseconds } from "../units.ts";

/** What a channel need not be told. */
const HIDEABLE = ["amounts", "addresses"] as const;

/** What every channel has, whatever its kind. */
export const channelTerms = {
  minimum: or(z.enum(SEVERITIES), "warning", "the least severity that is sent (warning)"),
  ends: or(z.boolean({ error: "needs true or false" }), false, "also reports that an alert is over"),
  messages: or(flag("also sends messages: fills, starts, digests (true)"), true),
  quiet: maybe(
    text("hours in which only what is critical is sent, and the rest afterwards", "22:00-07:00"),
    "hours in which only what is critical is sent, and the rest afterwards",
  ),
  hide: or(
    z.array(z.enum(HIDEABLE, { error: `needs a list of: ${HIDEABLE.join(", ")}` })),
    [],
    "what this channel is not told: amounts, addresses",
  ),
};

/** A channel by its kind. The loader is given the kinds and their other keys: each is a file of its own. */
export const channelEntry = z.looseObject({ kind: z.string({ error: "needs the name of a kind of channel" }) });

/** How people are notified. */
export const alerts = orEmpty("how people are notified of what needs them; the log has the same", {
  webhook: maybeMap("where alerts are sent, signed; a channel of the name webhook", {
    url: secretReference("the URL that alerts are posted to; it usually carries a key"),
    secret: secretReference("what alerts are signed with (HMAC-SHA256), at least 16 characters"),
    ...channelTerms,
  }),
  channels: or(
    z.record(name, channelEntry, { error: "needs channels by name" }),
    {},
    "channels that alerts are sent to, by name; without any the log alone has them",
  ),
  fills: or(
    z.boolean({ error: "needs true or false" }),
    false,
    "a message for each fill; in a dry run for what would be one",
  ),
  starts: or(
    z.boolean({ error: "needs true or false" }),
    false,
    "a message for each start, and for what happened while the daemon was down",
  ),
  digest: or(
    z.array(z.enum(["day", "week"], { error: "needs a list of: day, week" })),
    [],
    "a message by the day, by the week, or both, of what happened",
  ),
  timezone: text("the IANA time zone of digests and quiet hours; UTC by default", "Europe/Berlin").optional(),
  heartbeat: maybeMap("a sign of life to a watcher that reports when none comes (healthchecks.io and its like)", {
    url: secretReference("the URL to ping; /start and /fail are put behind it"),
    every: or(milliseconds("how often (5m)", "5m"), 300_000),
  }),
  events: or(
    z.record(z.string(), z.enum(["off", "silent", "on"], { error: "needs off, silent or on" })),
    {},
    "codes of alerts and messages that nobody is notified of (off), or without a sound (silent)",
  ),
  sameEnds: or(
    count("an alert when so many slots of a strategy in a row came to nothing for the same reason", {
      min: 2,
      max: 1_000,
    }),
    3,
  ),
});

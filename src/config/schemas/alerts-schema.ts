import { z } from "zod";
import { SEVERITIES } from "../../domain/run/alert.ts";
import { count, flag, map, maybe, maybeMap, name, or, orEmpty, secretReference, text } from "../fields.ts";
import { milliseconds } from "../units.ts";

/** What a channel need not be told. */
const HIDEABLE = ["amounts", "addresses"] as const;

/** What may be asked for by chat. */
const CHAT_COMMANDS = ["status", "why", "profit", "pause", "halt", "resume", "run", "approve"] as const;

/** A number of a chat or of a person, which is longer than some programs can count. */
function id(description: string, example: string) {
  return z
    .string({ error: `needs a number in quotes, for example "${example}"` })
    .regex(/^-?[1-9][0-9]{0,19}$/, { error: `is no number, for example "${example}"` })
    .meta({ description, examples: [example] });
}

const telegramCommands = map("commands to a bot of Telegram, by some people in one chat", {
  token: secretReference("the token of the bot; a bot has one daemon that listens"),
  chat: id("the number of the chat in which commands count", "-1001234567890"),
  users: z
    .array(id("the number of a person", "123456789"), { error: "needs a list of people, by their numbers" })
    .min(1, { error: "names nobody" })
    .max(16, { error: "names more than 16 people" })
    .meta({ description: "the people whose commands count, by their numbers" }),
  allow: or(
    z.array(z.enum(CHAT_COMMANDS, { error: `needs a list of: ${CHAT_COMMANDS.join(", ")}` })),
    ["status", "why", "profit", "pause", "halt"],
    "what may be asked for (status, why, profit, pause, halt); resume, run and approve need a code as well",
  ),
  server: text("a Bot API server of one's own", "https://api.telegram.org").optional(),
});

/** Who is listened to by a bot. */
export type TelegramCommands = z.output<typeof telegramCommands>;

const EVENTS = z.record(z.string(), z.enum(["off", "silent", "on"], { error: "needs off, silent or on" }));

/** What every channel has, whatever its kind. */
export const channelTerms = {
  minimum: maybe(z.enum(SEVERITIES), "the least severity that is sent (warning)"),
  severities: maybe(
    z.array(z.enum(SEVERITIES, { error: `needs a list of: ${SEVERITIES.join(", ")}` })),
    "in place of `minimum`: the severities that are sent; [] for messages alone",
  ),
  events: or(EVENTS, {}, "codes of alerts and messages that are off, silent or on here, whatever they are elsewhere"),
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
  commands: maybeMap("commands by chat; what they do is done as if the owner had typed it", {
    telegram: telegramCommands,
  }),
  events: or(EVENTS, {}, "codes of alerts and messages that nobody is notified of (off), or without a sound (silent)"),
  sameEnds: or(
    count("an alert when so many slots of a strategy in a row came to nothing, for one trouble or several", {
      min: 2,
      max: 1_000,
    }),
    3,
  ),
});

import { join } from "node:path";
import { expect, it } from "vitest";
import { brief, loaded, MAIN, problemsOf } from "./project.ts";

const alerts = (webhook: string): Record<string, string> => ({
  "main.yaml": `${MAIN}alerts: { webhook: { ${webhook} } }\n`,
});
const channels = (text: string): Record<string, string> => ({
  "main.yaml": `${MAIN}alerts:\n  channels:\n${text.replaceAll(/^/gm, "    ")}\n`,
});
const reported = (changes: Record<string, string>): string => problemsOf(changes).map(brief).join("\n");

it("is where alerts go: two references, files from the folder of the main file, and warnings upwards by default", () => {
  const { channels: found, file } = loaded(alerts("url: { env: ALERT_URL }, secret: { file: alert.key }"));
  expect(found).toEqual([
    {
      ...{
        name: "webhook",
        kind: "webhook",
        path: "alerts.webhook",
        severities: ["warning", "critical"],
        sendsEnds: false,
      },
      ...{ sendsMessages: true, quiet: undefined, hides: [], events: {} },
      options: { url: { env: "ALERT_URL" }, secret: { file: join(file, "../alert.key") } },
    },
  ]);
  const [other] = loaded(alerts("url: { env: A }, secret: { env: B }, minimum: critical, ends: true")).channels;
  expect(other).toMatchObject({ severities: ["critical"], sendsEnds: true });
});

it("is not needed: the log has everything", () => {
  expect(loaded().channels).toEqual([]);
  expect(loaded({ "main.yaml": `${MAIN}alerts: { fills: true }\n` }).channels).toEqual([]);
});

it("has others alongside it, each with a name and a kind, and with the options of its kind", () => {
  const both = `${MAIN}alerts:
  webhook: { url: { env: A }, secret: { env: B } }
  channels:
    phone: { kind: ntfy, server: "https://push.example", topic: { file: topic }, token: { env: T }, minimum: critical, ends: true }
    desk: { kind: webhook, url: { env: C }, secret: { env: D } }
`;
  const { channels: found, file } = loaded({ "main.yaml": both });
  expect(found.map(({ name, kind, path }) => [name, kind, path])).toEqual([
    ["webhook", "webhook", "alerts.webhook"],
    ["phone", "ntfy", "alerts.channels.phone"],
    ["desk", "webhook", "alerts.channels.desk"],
  ]);
  expect(found[1]).toMatchObject({
    ...{ severities: ["critical"], sendsEnds: true },
    options: { server: "https://push.example", topic: { file: join(file, "../topic") } },
  });
});

it.each([
  [
    "phone: { kind: nfty, topic: { env: A } }",
    'alerts.channels.phone.kind: is none of the values known here -> did you mean "ntfy"?',
  ],
  ["phone: { topic: { env: A } }", 'alerts.channels.phone.kind: the key "kind" is missing'],
  ["phone: { kind: ntfy }", 'alerts.channels.phone.topic: the key "topic" is missing'],
  [
    "phone: { kind: ntfy, topic: { env: A } }",
    'alerts.channels.phone.token: the key "token" is missing -> write it, or `url: { env: NAME }` with server, topic and token in one',
  ],
  [
    "phone: { kind: ntfy, url: { env: A }, token: { env: B } }",
    "alerts.channels.phone.token: `url` stands in its place already -> leave out one of them",
  ],
  ["desk: { kind: telegram, url: tgram://a-key/1 }", "alerts.channels.desk.url: needs a reference"],
  [
    "desk: { kind: telegram, token: { env: A }, chat: -100 }",
    'alerts.channels.desk.chat: needs a text, for example "-100',
  ],
  ["desk: { kind: discord }", 'alerts.channels.desk.url: the key "url" is missing'],
  ["phone: { kind: ntfy, topic: a-key }", "alerts.channels.phone.topic: needs a reference"],
  [
    "phone: { kind: ntfy, topic: { env: A }, server: https://ntfy.sh/a-key }",
    "alerts.channels.phone.server: is more than a server; write for example https://push.example",
  ],
  [
    "phone: { kind: ntfy, topic: { env: A }, tokn: { env: B } }",
    'alerts.channels.phone.tokn: unknown key "tokn" -> did you mean "token"?',
  ],
  [
    "phone: { kind: ntfy, topic: { env: A }, minimum: loud }",
    "alerts.channels.phone.minimum: is none of the values known here",
  ],
  [
    "phone: { kind: ntfy, url: { env: A }, minimum: info, severities: [critical] }",
    "alerts.channels.phone.severities: `minimum` stands beside it, and says something else -> leave out one of them",
  ],
  [
    "phone: { kind: ntfy, url: { env: A }, severities: [], messages: false }",
    "alerts.channels.phone.severities: with `messages: false` nothing would be sent -> name a severity, or leave the channel out",
  ],
  [
    "phone: { kind: ntfy, url: { env: A }, severities: [loud] }",
    "alerts.channels.phone.severities.0: is none of the values known here -> write info or warning or critical",
  ],
  [
    "phone: { kind: ntfy, url: { env: A }, events: { FILED: off } }",
    'alerts.channels.phone.events.FILED: nothing is reported under this code -> did you mean "FILLED"?',
  ],
  [
    "phone: { kind: ntfy, url: { env: A }, events: { FILLED: never } }",
    "alerts.channels.phone.events.FILLED: is none of the values known here -> write off or silent or on",
  ],
  ["phone: { kind: ntfy, topic: { env: A }, ends: yes }", "alerts.channels.phone.ends: needs true or false"],
  ["Phone: { kind: ntfy, topic: { env: A } }", "a name is lower-case letters, digits and hyphens"],
  ["phone: ntfy", "alerts.channels.phone: needs a map of keys"],
])("a channel as %s is refused at its place: %s", (text, expected) => {
  const problems = reported(channels(text));
  expect(problems).toContain(expected);
  // The line after `channels:`, and not the top of the file.
  expect(problems).toMatch(new RegExp(`^${MAIN.split("\n").length + 2}:\\d+ `));
  expect(problems).not.toContain("a-key");
});

it("takes one URL in the place of what is in it", () => {
  const text =
    "phone: { kind: ntfy, url: { env: A } }\nchat: { kind: telegram, url: { file: chat.url }, minimum: info }";
  const { channels: found, file } = loaded(channels(text));
  expect(found.map(({ kind, options }) => [kind, options])).toEqual([
    ["ntfy", { url: { env: "A" } }],
    ["telegram", { url: { file: join(file, "../chat.url") } }],
  ]);
});

it("takes its severities by a list, or messages alone, and what of a code is on here", () => {
  const text = `phone: { kind: ntfy, url: { env: A }, severities: [critical] }
chat: { kind: ntfy, url: { env: A }, severities: [warning, info], events: { DIGEST: silent, FILLED: off } }
family: { kind: ntfy, url: { env: A }, severities: [] }`;
  expect(loaded(channels(text)).channels).toMatchObject([
    { severities: ["critical"], events: {} },
    { severities: ["warning", "info"], events: { DIGEST: "silent", FILLED: "off" } },
    { severities: [], sendsMessages: true },
  ]);
});

it("shows nothing of a token that was written into the file", () => {
  const [problem, ...others] = problemsOf(channels("phone: { kind: ntfy, topic: { env: A }, token: tk_canary0123 }"));
  expect(problem?.path).toBe("alerts.channels.phone.token");
  expect(JSON.stringify([problem, others])).not.toContain("canary");
  expect(others, "it stands there, and is not missing").toEqual([]);
});

it("is refused under the name of the webhook, and beyond sixteen", () => {
  const webhook = "webhook: { url: { env: A }, secret: { env: B } }";
  const twice = `${MAIN}alerts: { ${webhook}, channels: { webhook: { kind: ntfy, topic: { env: C } } } }\n`;
  expect(reported({ "main.yaml": twice })).toContain("alerts.webhook has this name already");
  const names = Array.from({ length: 17 }, (_, index) => `c${index}: { kind: ntfy, url: { env: A } }`);
  expect(reported(channels(names.join("\n")))).toContain("there are 17, and at most 16 channels are allowed");
  expect(loaded(channels(names.slice(1).join("\n"))).channels).toHaveLength(16);
});

it("takes messages of fills and starts where they are switched on, and counts slots that ended alike to three", () => {
  const others = { events: {}, digest: { periods: [], timezone: "UTC" } };
  expect(loaded().notifications).toEqual({ fills: false, starts: false, sameEnds: 3, ...others });
  const edited = { "main.yaml": `${MAIN}alerts: { fills: true, starts: true, sameEnds: 10 }\n` };
  expect(loaded(edited).notifications).toEqual({ fills: true, starts: true, sameEnds: 10, ...others });
  const wrong = { "main.yaml": `${MAIN}alerts: { fills: yes please, sameEnds: 1 }\n` };
  const problems = problemsOf(wrong).map(brief).join("\n");
  expect(problems).toContain("alerts.fills: needs true or false");
  expect(problems).toContain("alerts.sameEnds: ");
});

it.each([
  ['url: "https://hooks.example/T00/key", secret: { env: B }', "alerts.webhook.url: needs a reference"],
  ["url: { env: A }, secret: hunter2hunter2hunter2", "alerts.webhook.secret: needs a reference"],
  ["url: { env: A }", 'alerts.webhook.secret: the key "secret" is missing'],
  ["url: { env: A }, secret: { env: B }, minimum: loud", "alerts.webhook.minimum: is none of the values known here"],
  ["url: { env: A }, secret: { env: B }, minimun: info", 'alerts.webhook.minimun: unknown key "minimun"'],
])("with %s it is refused: %s", (webhook, expected) => {
  const problems = problemsOf(alerts(webhook)).map(brief);
  expect(problems.join("\n")).toContain(expected);
  expect(problems.join("\n")).not.toMatch(/hunter2hunter2|T00/);
});

it("leaves messages, quiet hours and what is hidden to each channel, by the zone of all", () => {
  const text =
    'phone: { kind: ntfy, url: { env: A }, quiet: "22:00-07:00", messages: false, hide: [amounts, addresses] }';
  const [phone] = loaded(channels(text)).channels;
  expect(phone).toMatchObject({
    ...{ sendsMessages: false, hides: ["amounts", "addresses"] },
    quiet: { fromMinute: 22 * 60, untilMinute: 7 * 60 },
  });
  const main = `${MAIN}alerts: { timezone: Europe/Berlin, digest: [day, week], events: { FILLED: silent, NO_FUNDS: off, strategy_completed: "on" } }\n`;
  expect(loaded({ "main.yaml": main }).notifications).toMatchObject({
    events: { FILLED: "silent", NO_FUNDS: "off", strategy_completed: "on" },
    digest: { periods: ["day", "week"], timezone: "Europe/Berlin" },
  });
});

it("pings a watcher every five minutes, where one is named", () => {
  const main = `${MAIN}alerts: { heartbeat: { url: { file: ping.url } } }\n`;
  const { heartbeat, file } = loaded({ "main.yaml": main });
  expect(heartbeat).toEqual({ url: { file: join(file, "../ping.url") }, everyMs: 300_000 });
  expect(loaded().heartbeat).toBeUndefined();
});

it.each([
  ['quiet: "22:00"', "alerts.channels.phone.quiet: "],
  ['quiet: "00:00-24:00"', "alerts.channels.phone.quiet: is more than hours of each day -> write at most 16 hours"],
  ['quiet: "Sat-Sun 00:00-12:00"', "alerts.channels.phone.quiet: is more than hours of each day"],
  ["hide: [amount]", "alerts.channels.phone.hide"],
  ["messages: no", "alerts.channels.phone.messages: "],
])("a channel with %s is refused: %s", (term, expected) => {
  expect(reported(channels(`phone: { kind: ntfy, url: { env: A }, ${term} }`))).toContain(expected);
});

it.each([
  ["events: { FILED: off }", 'alerts.events.FILED: nothing is reported under this code -> did you mean "FILLED"?'],
  [
    "events: { NO_FUNDS: quiet }",
    "alerts.events.NO_FUNDS: is none of the values known here -> write off or silent or on",
  ],
  ["digest: [month]", "alerts.digest.0: is none of the values known here -> write day or week"],
  [
    "timezone: Berlin",
    'alerts.timezone: "Berlin" is no time zone that this machine knows -> did you mean "Europe/Berlin"?',
  ],
  ["heartbeat: { url: https://hc.example/a-key }", "alerts.heartbeat.url: needs a reference"],
])("with %s is reported: %s", (terms, expected) => {
  const problems = reported({ "main.yaml": `${MAIN}alerts: { ${terms} }\n` });
  expect(problems).toContain(expected);
  expect(problems).not.toContain("a-key");
});

it("listens to one chat and to named people, and trades by no word of theirs unless that is allowed", () => {
  const commands = (terms: string) => ({
    "main.yaml": `${MAIN}alerts: { commands: { telegram: { token: { env: T }, ${terms} } } }\n`,
  });
  expect(loaded(commands('chat: "-100123", users: ["42"]')).chat).toEqual({
    ...{ token: { env: "T" }, chat: "-100123", users: ["42"], server: undefined },
    allow: ["status", "why", "profit", "pause", "halt"],
  });
  expect(loaded().chat).toBeUndefined();
  for (const [terms, expected] of [
    ['chat: "-100123"', 'alerts.commands.telegram.users: the key "users" is missing'],
    ['chat: "-100123", users: []', "alerts.commands.telegram.users: names nobody"],
    ['users: ["42"]', 'alerts.commands.telegram.chat: the key "chat" is missing'],
    ['chat: -100123, users: ["42"]', "alerts.commands.telegram.chat: needs a number in quotes"],
    ['chat: "@mine", users: ["42"]', "alerts.commands.telegram.chat: is no number"],
    ['chat: "1", users: ["42"], allow: [sell]', "alerts.commands.telegram.allow.0: is none of the values known here"],
  ] as const)
    expect(reported(commands(terms))).toContain(expected);
});

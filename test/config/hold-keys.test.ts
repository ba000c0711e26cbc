import { expect, it } from "vitest";
import { createIntlZones } from "../../src/adapters/zones/intl-zones.ts";
import { brief, DCA, loaded, MAIN, strategyProblems } from "./project.ts";

const withExecution = (keys: string): string => `${DCA}execution: ${keys}\n`;

const specOf = (text: string) => loaded({ "strategies/weekly.yaml": text }).strategies[0]?.spec;

it("ALL-12 an approval is waited for half a day unless the file says how long", () => {
  expect(specOf(withExecution('{ approve_above: "2000 USD" }'))).toMatchObject({
    ...{ approveAboveUsd: 2_000n * 10n ** 18n, approveWithinSeconds: 43_200 },
  });
  const quick = withExecution('{ approve_above: "2000 USD", approve_within: 30m, announce: 1h }');
  expect(specOf(quick)).toMatchObject({ approveWithinSeconds: 1_800, announceSeconds: 3_600 });
});

it("a file without them is the same edition as before", () => {
  expect(Object.keys(specOf(DCA) ?? {})).not.toEqual(expect.arrayContaining(["approveAboveUsd"]));
  expect(Object.keys(specOf(DCA) ?? {})).not.toEqual(expect.arrayContaining(["announceSeconds"]));
});

it.each([
  [
    "{ approve_within: 1h }",
    'execution.approve_within: nothing waits for an approval -> add approve_above, for example "2000 USD"',
  ],
  ['{ approve_above: "2000 USDC" }', 'execution.approve_above: "2000 USDC" is not in dollars -> write "2000 USD"'],
  ["{ approve_above: 2000 }", "execution.approve_above: "],
  ["{ announce: soon }", "execution.announce: "],
  ['{ aprove_above: "2000 USD" }', "execution.aprove_above: unknown key"],
])("%s is refused with its place", (keys, problem) => {
  expect(strategyProblems(withExecution(keys)).join("\n")).toContain(problem);
});

it("who asks or announces where no channel brings it to anybody is warned of", () => {
  const hook = "webhook: { url: { env: HOOK }, secret: { env: SECRET } }";
  const text = withExecution('{ approve_above: "2000 USD", announce: 1h }');
  const warningsWith = (alerts: string) =>
    loaded({ "strategies/weekly.yaml": text, "main.yaml": MAIN + alerts }).warnings.map(brief);
  const unheard = (key: string, code: string) =>
    expect.stringMatching(
      `^6:\\d+ execution\\.${key}: no channel of alerts sends ${code}, a warning: nobody hears of what weekly asks`,
    );
  const both = [unheard("approve_above", "APPROVAL_NEEDED"), unheard("announce", "SWAP_ANNOUNCED")];
  expect(warningsWith("")).toEqual(both);
  expect(warningsWith(`alerts: { ${hook} }\n`)).toEqual([]);
  expect(warningsWith(`alerts: { ${hook.replace("} }", "}, minimum: critical }")} }\n`)).toEqual(both);
  expect(warningsWith(`alerts: { ${hook}, events: { SWAP_ANNOUNCED: off } }\n`)).toEqual(both.slice(1));
});

const NIGHT = ', quiet: "22:00-07:00"';

/** What is warned of a strategy of this schedule, with a channel of these terms and others beside it. */
function quietWarnings(schedule: string, execution = "{ announce: 1h }", channels = "{}", terms = NIGHT): string[] {
  const hook = `webhook: { url: { env: HOOK }, secret: { env: SECRET }${terms} }`;
  const alerts = `alerts: { timezone: Europe/Berlin, ${hook}, channels: ${channels} }\n`;
  const text = `${DCA.replace("{ every: 6h }", schedule)}execution: ${execution}\n`;
  const files = { "strategies/weekly.yaml": text, "main.yaml": MAIN + alerts };
  return loaded(files, {}, { zones: createIntlZones() }).warnings.map(brief);
}

/** Every day at a time of a zone, tried for half an hour. */
const daily = (time: string, zone = "Europe/Berlin") => `{ at: "${time}", timezone: ${zone} }\nretry_for: 30m`;

it("who announces at slots in quiet hours that last longer than what is announced waits is warned of", () => {
  expect(quietWarnings(daily("05:30"))).toEqual([
    expect.stringMatching(
      /^7:\d+ execution\.announce: slots of weekly fall into the quiet hours of each channel that sends SWAP_ANNOUNCED \(webhook 22:00-07:00\), some 1h30m before they are over: what none of them sends within 1h30m ends as not_announced -> use a longer `retry_for`, slots outside of these hours, or a channel without `quiet`$/,
    ),
  ]);
  expect(quietWarnings(daily("05:31")), "told before it ends").toEqual([]);
  expect(quietWarnings(daily("21:59")), "told before the quiet hours").toEqual([]);
  expect(quietWarnings(daily("05:30"), "{ announce: 90m }"), "waits longer itself").toEqual([]);
  expect(quietWarnings(daily("20:00", "UTC")), "in summer").toHaveLength(1);
  expect(quietWarnings(daily("19:59", "UTC"))).toEqual([]);
  expect(quietWarnings("{ every: 1m }")).toHaveLength(1);
  expect(quietWarnings('{ every: 1m, windows: ["07:00-22:00"], timezone: Europe/Berlin }')).toEqual([]);
  expect(quietWarnings('{ at: "Mon 21:50", timezone: Europe/Berlin, jitter: 1h }'), "delayed into them").toHaveLength(
    1,
  );
});

it("who asks for an approval that quiet hours bring too late is warned of, and not where another channel is awake", () => {
  const asks = '{ approve_above: "2000 USD", approve_within: 2h }';
  expect(quietWarnings(daily("04:30"), asks)).toEqual([
    expect.stringMatching(
      /^7:\d+ execution\.approve_above: .* APPROVAL_NEEDED \(.*\), some 2h30m .* within 2h ends as not_approved -> use a longer `approve_within`, /,
    ),
  ]);
  expect(quietWarnings(daily("05:30"), asks)).toEqual([]);
  const phone = (terms: string) => `{ phone: { kind: ntfy, url: { env: PHONE }${terms} } }`;
  expect(quietWarnings(daily("04:30"), asks, phone(""))).toEqual([]);
  expect(quietWarnings(daily("04:30"), asks, phone(', quiet: "23:00-05:00"')), "it is awake sooner").toEqual([]);
  expect(quietWarnings(daily("04:30"), asks, phone(', quiet: "23:00-06:45"'))).toEqual([
    expect.stringContaining("(webhook 22:00-07:00, phone 23:00-06:45), some 2h15m before they are over"),
  ]);
  expect(quietWarnings(daily("04:30"), asks, phone(", severities: [critical]")), "it sends no warnings").toHaveLength(
    1,
  );
  expect(quietWarnings(daily("04:30"), asks, "{}", "")).toEqual([]);
});

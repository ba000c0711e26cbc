import { parseArgs } from "node:util";
import { CRASH_LABELS, GROUPS_OF_A_DAEMON, type LabelGroup } from "./crash-labels.ts";
import { runKillCampaign, summaryOf } from "./kill-harness.ts";
import type { Profile } from "./kill-world.ts";

/** The long form, some fifty kills against each service: `main.ts --kills 500 --seed 7 [--against swapd|fly] [--group lane]... [--fallback]`, or some at a label, `--label gasless.sign.after`, every kill reported. Ends with 1 when anything is wrong. */
const { values } = parseArgs({
  options: {
    kills: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    against: { type: "string" },
    group: { type: "string", multiple: true },
    label: { type: "string", multiple: true },
    fallback: { type: "boolean", default: false },
  },
});

// What was started ends with this process, and that needs an end of its own making.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    console.error(`ended by ${signal}`);
    process.exit(1);
  });
}

const QUIET_MS = 60_000;

/** Labels of a daemon that no life against any of the services passed. */
let neverPassed: ReadonlySet<string> | undefined;

const KILLS = 110;
const KILLS_AT_A_LABEL = 8;

const labels = values.label?.map(labelOf);
const groups = values.group?.map(groupOf) ?? GROUPS_OF_A_DAEMON;
const profiles: readonly Profile[] = values.against === undefined ? ["swapd", "fly"] : [profileOf(values.against)];
for (const profile of profiles) {
  const wanted = Number(values.kills ?? (labels === undefined ? KILLS : KILLS_AT_A_LABEL));
  const kills = Math.ceil(wanted / profiles.length);
  const report = await runKillCampaign({
    profile,
    kills,
    groups,
    ...(labels === undefined ? {} : { labels }),
    // A database that is put back has no rows of what it shows to everybody.
    acts: labels === undefined && !values.fallback,
    fallsBack: values.fallback,
    asksAgain: true,
    serviceKills: labels === undefined ? Math.ceil(kills / 4) : 0,
    seed: Number(values.seed),
    quietMs: QUIET_MS,
    report: (text) => console.log(text),
  });
  const { daemons, service } = report;
  const violations = [...report.violations];
  const passedBefore = neverPassed;
  neverPassed = new Set(report.neverPassed.filter((label) => passedBefore?.has(label) !== false));
  console.log(summaryOf(profile, report));
  const missing = [...new Set([...daemons.notPassed, ...service.notPassed])];
  if (missing.length > 0) console.log(`labels that were not passed at least once when asked for: ${missing.join(" ")}`);
  if (values.fallback && report.shown === 0) violations.push("nothing that was kept was tried publicly");
  for (const violation of violations) console.error(`WRONG: ${violation}`);
  if (violations.length > 0) process.exitCode = 1;
}

if (neverPassed !== undefined && neverPassed.size > 0) {
  console.error(`WRONG: never passed: ${[...neverPassed].join(" ")}`);
  process.exitCode = 1;
}

function groupOf(text: string): LabelGroup {
  const group = GROUPS_OF_A_DAEMON.find((name) => name === text);
  if (group === undefined) throw new Error(`there are no labels of ${text}: name ${GROUPS_OF_A_DAEMON.join(", ")}`);
  return group;
}

function labelOf(text: string): string {
  const known = GROUPS_OF_A_DAEMON.flatMap((group): readonly string[] => CRASH_LABELS[group]);
  if (!known.includes(text)) throw new Error(`there is no label ${text}: name one of ${known.join(", ")}`);
  return text;
}

function profileOf(text: string): Profile {
  if (text === "swapd" || text === "fly") return text;
  throw new Error(`there is no service ${JSON.stringify(text)}: name swapd or fly`);
}

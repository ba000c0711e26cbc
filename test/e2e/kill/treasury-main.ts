import { parseArgs } from "node:util";
import { runTreasuryCampaign, summaryOf } from "./treasury-campaign.ts";

/** Kills of daemons that propose to the owners of a Safe: `treasury-main.ts --kills 200 --seed 7`. Ends with 1 when anything is wrong. */
const { values } = parseArgs({
  options: {
    tracks: { type: "string", default: "2" },
    kills: { type: "string", default: "200" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});

// What was started ends with this process, and that needs an end of its own making.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    console.error(`ended by ${signal}`);
    process.exit(1);
  });
}

const report = await runTreasuryCampaign({
  ...{ tracks: Number(values.tracks), kills: Number(values.kills), seed: Number(values.seed) },
  report: (text) => console.log(text),
});
console.log(summaryOf(report));
for (const violation of report.violations) console.error(`WRONG: ${violation}`);
if (report.violations.length > 0) process.exitCode = 1;

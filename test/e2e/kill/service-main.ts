import { parseArgs } from "node:util";
import { runServiceKills, summaryOfService } from "./service-campaign.ts";

/** The long form: fifty kills of the service under gasless load, every kill reported. Ends with 1 when anything is wrong. */
const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "50" },
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

const WALLETS = 3;
const QUIET_MS = 60_000;

const report = await runServiceKills({
  kills: Number(values.kills),
  wallets: WALLETS,
  seed: Number(values.seed),
  quietMs: QUIET_MS,
  report: (text) => console.log(text),
});
console.log(summaryOfService(report));
const missing = [...new Set(report.service.notPassed)];
if (missing.length > 0) console.log(`labels that were not passed when asked for: ${missing.join(" ")}`);
for (const violation of report.violations) console.error(`WRONG: ${violation}`);
// Timers of lives that ended early would keep this process for a minute.
process.exit(report.violations.length > 0 ? 1 : 0);

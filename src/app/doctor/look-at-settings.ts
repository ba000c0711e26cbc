import type { Configuration } from "../../config/configuration.ts";
import { formatDollars } from "../../domain/money/price.ts";
import { checkZones } from "../check-machine.ts";
import type { StatusDocument } from "../commands/status-document.ts";
import { lastOf } from "../commands/status-standing.ts";
import { machineZone } from "../machine-zone.ts";
import { fine, type Judged, judgedOf } from "./diagnosis.ts";

/** Of what may be sold in a day or a month, so much is nearly all. */
const NEARLY_ALL = 0.9;

/** Whether a daemon runs. */
export function judgeDaemon({ daemon }: StatusDocument): readonly Judged[] {
  const last = lastOf(daemon);
  if (daemon.running === true) return [fine("daemon", `runs (${daemon.holder ?? "its process is unknown"})`)];
  const mend = "swapd start";
  if (daemon.running === null)
    return [{ what: "daemon", state: "not tried", found: `it is not known whether one runs${last}`, mend }];
  return [{ what: "daemon", state: "warning", found: `none runs${last}`, mend }];
}

/** The mode of the file and of the daemon, the modes in force, what is left of the ceilings, and the zones. */
export function judgeSettings(configuration: Configuration, status: StatusDocument | undefined): readonly Judged[] {
  return [
    ...judgeMode(configuration, status),
    ...judgeLimits(configuration, status),
    ...judgeZones(configuration),
    ...configuration.warnings.map(({ message }): Judged => {
      return { what: "configuration", state: "warning", found: message, mend: "swapd check" };
    }),
  ];
}

function judgeMode({ mode }: Configuration, status: StatusDocument | undefined): readonly Judged[] {
  if (status === undefined) return [fine("mode", mode)];
  const judged: Judged[] = [];
  if (status.mode !== null && status.mode !== mode) {
    // A second daemon beside it would be refused.
    const found = `the daemon runs ${status.mode}, and the file says ${mode}, which applies once it was stopped and started`;
    judged.push({ what: "mode", state: "warning", found, mend: "swapd status" });
  } else judged.push(fine("mode", `${mode}, ${status.operating ?? "active"}`));
  for (const { scope, mode: own, setBy, reason, at } of status.modes) {
    if (own === "active") continue;
    const isGlobal = scope === "global";
    const found = `${isGlobal ? "everything" : scope} is ${own} since ${at}, set by ${setBy}: ${reason}`;
    judged.push({ what: "mode", state: "warning", found, mend: isGlobal ? "swapd resume" : `swapd resume ${scope}` });
  }
  return judged;
}

function judgeLimits({ policy, strategies }: Configuration, status: StatusDocument | undefined): readonly Judged[] {
  const trade = `${formatDollars(policy.maxTradeUsd)} at once`;
  const sold = status?.sold ?? undefined;
  if (sold === undefined) return [fine("limits", trade)];
  const judged = (["day", "month"] as const).flatMap((span): readonly Judged[] => {
    const { soldUsd, limitUsd } = sold[span];
    if (limitUsd === null) return [];
    const found = `${Number(soldUsd).toFixed(2)} of ${Number(limitUsd).toFixed(2)} USD sold in the last ${span}`;
    const isNearlyAll = Number(soldUsd) >= NEARLY_ALL * Number(limitUsd);
    if (!isNearlyAll) return [fine("limits", found)];
    return [{ what: "limits", state: "warning", found: `${found}: further swaps are put off`, mend: "swapd status" }];
  });
  const none = judged.length === 0 ? "; no ceiling of a day or a month" : "";
  return [fine("limits", `${trade}, ${strategies.length} strategies${none}`), ...judged];
}

function judgeZones(configuration: Configuration): readonly Judged[] {
  const zones = new Set(configuration.strategies.flatMap(({ spec: { schedule } }) => schedule.timezone || []));
  const here = machineZone();
  const digests = configuration.notifications.digest.timezone;
  const found = `strategies ${[...zones].join(", ") || "go by none"}; digests and quiet hours ${digests}; this machine ${here}`;
  return [fine("time zone", found), ...checkZones(configuration).map(judgedOf)];
}

import { urlProblem } from "../../adapters/notify/channel-kind.ts";
import type { Configuration } from "../../config/configuration.ts";
import { lookAt } from "../check-secrets.ts";
import type { StatusDocument } from "../commands/status-document.ts";
import { CommandFailure } from "../exit-codes.ts";
import { openChannels } from "../open-channels.ts";
import type { Runtime } from "../runtime.ts";
import { fine, type Judged } from "./diagnosis.ts";

const MEND = "swapd notify test";

/** Whether each channel opens, and is taken by its receiver as far as the rows say. Nothing is sent. */
export function judgeChannels(
  configuration: Configuration,
  { secrets, redactor }: Runtime,
  status: StatusDocument | undefined,
): readonly Judged[] {
  const rows = new Map(status?.channels.map((row) => [row.name, row]));
  const judged = configuration.channels.map((channel): Judged => {
    const what = `${channel.name} (${channel.kind})`;
    try {
      const [opened] = openChannels({ ...configuration, channels: [channel] }, { secrets, redactor });
      const row = rows.get(channel.name);
      if (row?.isBehind === true) {
        const found = `${row.waiting} to send, the oldest of ${row.since}; last answer: ${row.outcome ?? "none"}`;
        return { what, state: "warning", found, mend: MEND };
      }
      const seen = row === undefined ? "no daemon has used it yet" : "nothing waits";
      return fine(what, `${opened?.host}, ${channel.severities.join(", ") || "messages alone"}; ${seen}`);
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      return { what, state: "error", found: error.message, mend: MEND };
    }
  });
  if (judged.length === 0) {
    const found = "none: what needs a person stands in the log alone (name one under alerts.channels)";
    judged.push({ what: "channels", state: configuration.mode === "live" ? "warning" : "ok", found, mend: MEND });
  }
  return [...judged, judgeHeartbeat(configuration, secrets)];
}

function judgeHeartbeat({ heartbeat, mode }: Configuration, secrets: Runtime["secrets"]): Judged {
  const what = "heartbeat";
  if (heartbeat === undefined) {
    const found = "none: nobody hears of it when this machine is gone (alerts.heartbeat)";
    return { what, state: mode === "live" ? "warning" : "ok", found, mend: "swapd check" };
  }
  try {
    lookAt(heartbeat.url, urlProblem, { secrets });
    return fine(what, `every ${Math.round(heartbeat.everyMs / 1_000)} s`);
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { what, state: "error", found: error.message, mend: "swapd check" };
  }
}

import { type BoundedRequest, type BoundedResponse, FetchError } from "../../../src/net/bounded-fetch.ts";
import type { Faults } from "../faults.ts";
import type { Rows } from "../oracle/rows.ts";
import type { Report } from "../oracle/signing.ts";
import type { VirtualTime } from "../virtual-time.ts";
import type { Caller } from "./network.ts";

/** The two channels that people are notified by, by the hosts of their receivers. */
const CHANNELS: Readonly<Record<string, string>> = { "hook.sim": "webhook", "push.sim": "phone" };

/** Receivers of alerts, with what they were reported, and the judge of that. */
export interface Receivers {
  owns(host: string): boolean;
  fetch(caller: Caller, request: BoundedRequest): Promise<BoundedResponse>;
  /** The database was exchanged: another one knows other messages. */
  exchanged(): void;
  /** Once nothing goes wrong any more, each channel was notified everything, in the order of each subject. */
  checkReported(rows: Rows, report: Report): void;
}

/** How one request fares. */
type Fate = "well" | "lost" | "answer lost" | "refused";

const LATENCY_MS = 5;
/** What is answered so is given up, and tried once more while it is true. */
const GONE = 410;

export function createReceivers(parts: { time: VirtualTime; faults: Faults; report: Report }): Receivers {
  const { time, faults, report } = parts;
  /** by channel, the ids in the order in which they came first */
  const reported = new Map(Object.values(CHANNELS).map((channel) => [channel, new Map<string, number>()]));
  /** who heard that a message was taken, by channel and id */
  const heard = new Map<string, Caller>();
  /** by channel and id, what was refused for good once: it is reported later all the same, out of its order */
  const refused = new Set<string>();
  let isExchanged = false;
  let count = 0;

  const fateOf = (host: string): Fate => {
    if (faults.lasts("alerts: away", host, time.monotonicMs)) return "lost";
    if (faults.strikes("alerts: request lost", host)) return "lost";
    if (faults.strikes("alerts: answer lost", host)) return "answer lost";
    return faults.strikes("alerts: refused", host) ? "refused" : "well";
  };
  const take = (caller: Caller, channel: string, id: string): void => {
    if (heard.get(`${channel} ${id}`) === caller) report("S17", `${channel} was reported ${id} twice by one life`);
    const its = reported.get(channel);
    if (its?.has(id) === false) its.set(id, its.size);
  };
  return {
    owns: (host) => Object.hasOwn(CHANNELS, host),
    exchanged: () => {
      isExchanged = true;
    },
    fetch: async (caller, request) => {
      const { host } = new URL(request.url);
      const channel = CHANNELS[host] ?? "";
      const id = idIn(request.body ?? "");
      const fate = fateOf(host);
      count += 1;
      const status = faults.chance.pick([429, 500, GONE], "alerts: status", count);
      return await new Promise((resolve, reject) => {
        const living = (work: () => void): void => {
          if (!caller.isDead()) work();
        };
        const fail = (kind: FetchError["kind"]) => living(() => reject(new FetchError(kind, host, kind)));
        time.after(request.timeoutMs, () => fail("timeout"));
        request.signal?.addEventListener("abort", () => fail("aborted"), { once: true });
        if (fate === "lost") return;
        time.after(LATENCY_MS, () => {
          if (fate !== "refused") take(caller, channel, id);
          else if (status === GONE) refused.add(`${channel} ${id}`);
          if (fate === "answer lost") return;
          const answer = { status: fate === "refused" ? status : 200, text: "", header: () => null };
          time.after(LATENCY_MS, () =>
            living(() => {
              if (fate === "well") heard.set(`${channel} ${id}`, caller);
              resolve(answer);
            }),
          );
        });
      });
    },
    checkReported: (rows, report) => {
      for (const channel of Object.values(CHANNELS)) {
        const its = reported.get(channel) ?? new Map<string, number>();
        const isOrdered = (id: string): boolean => !isExchanged && !refused.has(`${channel} ${id}`);
        checkChannel(rows, { channel, reported: its, isOrdered, report: report });
      }
    },
  };
}

/** A webhook names the message in a field, a push message at its end. */
function idIn(body: string): string {
  const message = JSON.parse(body) as { id?: string; message?: string };
  return message.id ?? message.message?.split(", ").at(-1) ?? "";
}

/** What is over as soon as it is raised is a message, which a channel may leave out; both channels take the severities below. */
const UNDELIVERED = `SELECT id, code FROM alerts
  WHERE severity IN ('warning', 'critical') AND over_at_ms IS NOT raised_at_ms
    AND NOT EXISTS (SELECT 1 FROM alert_deliveries WHERE alert = alerts.number AND tells = 'begin' AND channel = ?)`;

interface DeliveryRow {
  readonly number: number;
  readonly subject: string;
  readonly id: string;
  readonly tells: string;
  readonly state: string;
}

function checkChannel(
  rows: Rows,
  of: { channel: string; reported: ReadonlyMap<string, number>; isOrdered(id: string): boolean; report: Report },
): void {
  const { channel, reported, isOrdered, report } = of;
  for (const { id, code } of rows.all<{ id: string; code: string }>(UNDELIVERED, channel))
    report("L5", `${channel} has no delivery of ${code} ${id}`);
  const newest = new Map<string, number>();
  for (const { subject, id, tells, state } of rows.all<DeliveryRow>(
    `SELECT sent.number, sent.subject, id, tells, state FROM alert_deliveries AS sent
     JOIN alerts ON alerts.number = alert WHERE channel = ? ORDER BY sent.number`,
    channel,
  )) {
    const name = tells === "end" ? `${id}.end` : id;
    if (state === "waiting") report("L5", `${channel} was not reported ${name} of ${subject}`);
    if (state !== "sent") continue;
    const at = reported.get(name);
    if (at === undefined) report("L5", `${channel} was never reported ${name}, which counts as reported`);
    if (!isOrdered(name)) continue;
    if (at !== undefined && at < (newest.get(subject) ?? -1))
      report("S17", `${channel} was reported ${name} of ${subject} out of order`);
    newest.set(subject, Math.max(newest.get(subject) ?? -1, at ?? -1));
  }
}

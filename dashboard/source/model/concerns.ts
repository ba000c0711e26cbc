import type { Status } from "../answers.ts";
import { clockTime } from "../format/time.ts";
import { inWords } from "../format/words.ts";

export interface Concern {
  readonly tone: "bad" | "warn" | "calm";
  readonly title: string;
  readonly text: string;
  readonly since?: string;
  readonly strategy?: string;
  readonly run?: string;
  /** what a person can do about it here */
  readonly offer?: "answer" | "resume" | "resume-strategy";
}

const WEIGHT = { bad: 0, warn: 1, calm: 2 } as const;

const SEVERITIES = ["critical", "warning", "info"];

/** Alerts by their severity, and of each in the order in which they come. */
export function worstFirst<T extends { readonly severity: string }>(alerts: readonly T[]): readonly T[] {
  return alerts.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
}

/** All that a person should look at, the worst first. Empty when nothing needs anybody. */
export function concernsOf(status: Status): readonly Concern[] {
  return [
    ...waitingOf(status),
    ...healthOf(status),
    ...haltsOf(status),
    ...modesOf(status),
    ...alertsOf(status),
    ...channelsOf(status),
  ].sort((a, b) => WEIGHT[a.tone] - WEIGHT[b.tone]);
}

function waitingOf({ waiting }: Status): readonly Concern[] {
  return waiting.map(({ kind, strategy, run, text, since, until }) => {
    const then =
      kind === "approval"
        ? `Nothing is signed unless somebody approves it until ${clockTime(until)}.`
        : `It goes on at ${clockTime(until)} unless somebody refuses it.`;
    return {
      tone: "warn",
      title: kind === "approval" ? `${strategy} waits for an approval` : `${strategy} announced a swap`,
      text: [...tradeIn(text), then].join(" "),
      ...{ since, strategy, run, offer: "answer" },
    };
  });
}

/** What it sells for what, as people are told by their channels, without the commands of a terminal: who answers has to know. */
function tradeIn(text: string | null): readonly string[] {
  return text === null ? [] : [`${text.split(/: within |; stop it with: /)[0]}.`];
}

function healthOf({ healthy, problems, parts }: Status): readonly Concern[] {
  const ill: readonly Concern[] = healthy
    ? []
    : [{ tone: "bad", title: "The daemon is not healthy", text: problems.join("; ") || "it gave no reason" }];
  const missing = Object.entries(parts).flatMap(([name, part]): readonly Concern[] =>
    part.ready
      ? []
      : [
          {
            tone: "bad",
            title: `Not ready: ${name}`,
            text: part.reason ?? "no reason is known",
            ...(part.since === null ? {} : { since: part.since }),
          },
        ],
  );
  return [...ill, ...missing];
}

function haltsOf({ halts }: Status): readonly Concern[] {
  return halts.map(({ account, reason, at }) => ({
    tone: "bad",
    title: `Wallet ${account} signs nothing`,
    text: reason,
    since: at,
    offer: "resume",
  }));
}

function modesOf({ modes }: Status): readonly Concern[] {
  return modes.map(({ scope, mode, by, reason, at }) => ({
    // What a strategy set itself, because it has done its work, needs nobody.
    tone: mode === "halted" ? "bad" : by === "strategy" ? "calm" : "warn",
    title: scope === "global" ? `Everything is ${inWords(mode)}` : `${scope} is ${inWords(mode)}`,
    text: reason === "" ? `by ${by}` : `by ${by}: ${reason}`,
    since: at,
    ...(scope === "global" ? { offer: "resume" } : { strategy: scope, offer: "resume-strategy" }),
  }));
}

/** What is said of a run that waits is said above, with what can be done about it. */
const SAID_ABOVE = new Set(["APPROVAL_NEEDED", "SWAP_ANNOUNCED"]);

function alertsOf({ alerts, waiting }: Status): readonly Concern[] {
  const isNews = ({ code, strategy }: Status["alerts"][number]): boolean =>
    !(SAID_ABOVE.has(code) && waiting.some((one) => one.strategy === strategy));
  return alerts.filter(isNews).map(({ severity, code, subject, text, strategy, at }) => ({
    tone: severity === "critical" ? "bad" : severity === "warning" ? "warn" : "calm",
    title: subject === "" ? inWords(code) : `${inWords(code)}: ${subject}`,
    text,
    since: at,
    ...(strategy === null ? {} : { strategy }),
  }));
}

function channelsOf({ channels }: Status): readonly Concern[] {
  return channels
    .filter(({ isBehind }) => isBehind)
    .map(({ name, waiting, outcome, since }) => ({
      tone: "warn",
      title: `Messages over ${name} are behind`,
      text: `${waiting} wait${outcome === null ? "" : `; the last answer: ${outcome}`}`,
      ...(since === null ? {} : { since }),
    }));
}

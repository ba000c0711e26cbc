import { CRASH_LABELS, type LabelGroup } from "./crash-labels.ts";

/** What an operator, or bad luck, does to a database while nobody runs on it. */
export type OperatorAct = "back up" | "restore" | "lose";

/** One life of a process: until it passes a label, or until somebody kills it from outside. */
export interface KillStep {
  /** where it kills itself, undefined for a kill from outside */
  readonly label: string | undefined;
  /** at which passing of the label */
  readonly passing: number;
  /** when it is killed from outside, because no label was named or it was not passed */
  readonly afterMs: number;
  /** that time is counted from its first words, not from its start */
  readonly atWork: boolean;
  /** how long it stays dead */
  readonly restMs: number;
  /** how long it is held still before it is killed, as a machine that sleeps holds it */
  readonly frozenMs: number;
  /** jumps of its wall clock, as `shifted-clock.ts` reads them; undefined: none */
  readonly clock: string | undefined;
  /** no life but something that is done to the database */
  readonly act: OperatorAct | undefined;
  /** repeated until what was to be signed last is a swap and no approval: only swaps have deadlines */
  readonly wantsSwap: boolean;
}

/** Longest wait for a label; what a process does not pass by then does not happen now. */
const LABEL_WITHIN_MS = 5_000;
/** The relayer has to wait for daemons that are being killed themselves. */
const RELAYED_WITHIN_MS = 15_000;
/** A process needs this long to have loaded its code, and a kill before that proves nothing. */
const LOADED_AFTER_MS = 350;
const MEAN_LIFE_MS = 500;
const LONGEST_LIFE_MS = 4_000;
/** Of the kills from outside, so many come while it starts; the others when it works. */
const SHARE_WHILE_STARTING = 0.25;
/** Of the kills from outside, so many come after the process was held still, for longer than a quote lives. */
const SHARE_FROZEN = 0.2;
const LEAST_FROZEN_MS = 5_000;
/** Of the kills from outside, so many end a life whose wall clock is set ahead and back while it runs. */
const SHARE_CLOCK = 0.35;
/** Below and above what is borne as a difference of two clocks. */
const CLOCK_SHIFTS_MS = [8_000, 90_000, 3_600_000, 86_400_000];
const MEAN_TIME_OF_A_CLOCK_MS = 2_000;
/** A life with such a clock is long enough that the jumps come while it works. */
const LIFE_WITH_CLOCK_MS = 5_000;
/** In so many kills a database is copied, the copy is put back later, and after that the database is lost. */
const KILLS_IN_A_CYCLE = 40;
const ACTS_OF_A_CYCLE: Readonly<Record<OperatorAct, number>> = { "back up": 0.15, restore: 0.5, lose: 0.85 };
/** The others come from outside. */
const SHARE_AT_LABELS = 0.8;
const SHARE_AT_LABELS_OF_SERVICE = 0.54;
/** Longer than it takes until an unmined transaction is replaced, and until a swap's deadline is past. */
const UNTIL_REPLACED_MS = 800;
const UNTIL_PAST_DEADLINE_MS = 6_500;

/** Random numbers from 0 to 1 that a seed repeats (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Divides the kills among daemons: every label of the groups, as many rounds of them as there is room for, and kills from
 * outside in between. Neighbouring labels follow each other, because what one kill interrupts is what the next life takes
 * up first.
 */
export function planDaemonKills(options: {
  readonly tracks: number;
  readonly kills: number;
  readonly groups: readonly LabelGroup[];
  readonly seed: number;
  /** whether databases are restored and lost in between */
  readonly acts: boolean;
}): KillStep[][] {
  const random = seededRandom(options.seed);
  const tracks = Array.from({ length: options.tracks }, (): KillStep[] => []);
  const rounds = Math.max(1, Math.floor((options.kills * SHARE_AT_LABELS) / labelsOf(options.groups).length));
  for (let round = 0; round < rounds; round += 1) {
    const labels = labelsOf(options.groups.filter((group) => !(group in LADDERS)));
    for (const [index, label] of labels.entries()) {
      if (rounds === 1 && isSameInstant(label)) continue;
      // In the next round the other daemon gets the label, and then at its second passing.
      tracks[(index + round) % options.tracks]?.push(labelStep(label, { passing: 1 + (Math.floor(round / 2) % 2) }));
    }
    for (const [index, track] of tracks.entries()) {
      track.push(...ladders("", options.groups, { offset: index, each: options.tracks }));
    }
  }
  for (let left = options.kills - tracks.flat().length; left > 0; left -= 1) {
    const track = tracks[left % options.tracks] ?? [];
    track.splice(placeOutsideLadders(track, random()), 0, randomStep(random));
  }
  return options.acts ? tracks.map((track, index) => withActs(track, index)) : tracks;
}

/** A copy, which is put back some kills later, and a file that is lost, once in so many kills. */
function withActs(track: readonly KillStep[], index: number): KillStep[] {
  const cycles = Math.max(1, Math.round(track.length / KILLS_IN_A_CYCLE));
  const places = new Map<number, OperatorAct>();
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    for (const [act, share] of Object.entries(ACTS_OF_A_CYCLE) as [OperatorAct, number][]) {
      // The second daemon is not in step with the first one.
      const place = Math.max(1, Math.floor(((cycle + share) / cycles) * track.length)) + index;
      places.set(outsideLadder(track, place), act);
    }
  }
  return track.flatMap((step, count) => {
    const act = places.get(count);
    return act === undefined ? [step] : [{ ...labelStep(""), label: undefined, act }, step];
  });
}

function outsideLadder(track: readonly KillStep[], place: number): number {
  let at = Math.min(place, track.length - 1);
  while (at > 0 && /^lane\.(bump|cancel)\./.test(track[at]?.label ?? "")) at -= 1;
  return at;
}

/** Asks again for labels that no life has passed yet, with more patience; what they follow on comes before them. */
export function planAgain(labels: readonly string[], round: number): KillStep[] {
  const again = (label: string): KillStep => labelStep(label, { afterMs: LABEL_WITHIN_MS * 2 ** round });
  const of = (group: LabelGroup): readonly string[] =>
    labels.filter((label) => CRASH_LABELS[group].some((one) => one === label));
  return [
    ...labels
      .filter((label) => !Object.keys(LADDERS).some((group) => of(group as LabelGroup).includes(label)))
      .map(again),
    ...(Object.entries(LADDERS) as [LabelGroup, { label: string; restMs: number }][]).flatMap(([group, start]) =>
      of(group).flatMap((label) => [
        labelStep(start.label, { restMs: start.restMs, wantsSwap: group === "cancellation" }),
        again(label),
      ]),
    ),
  ];
}

/** The same labels again and again, for anyone who looks into one of them: so many kills in all, a track's share each. */
export function planLabelKills(labels: readonly string[], options: { tracks: number; kills: number }): KillStep[][] {
  const share = Math.ceil(options.kills / options.tracks);
  const round = planAgain(labels, 0);
  const steps = Array.from({ length: Math.ceil(share / round.length) }, () => round).flat();
  return Array.from({ length: options.tracks }, () => steps);
}

/** Kills of the service: its relayer's lane, step by step, as far as they go. */
export function planServiceKills(kills: number): KillStep[] {
  const round = [
    ...CRASH_LABELS.lane.map((label) => labelStep(`relayer.${label}`)),
    ...ladders("relayer.", ["replacement", "cancellation"], { offset: 0, each: 1 }),
  ].map((step) => ({ ...step, afterMs: RELAYED_WITHIN_MS }));
  return Array.from({ length: Math.ceil(kills / round.length) }, () => round)
    .flat()
    .slice(0, kills);
}

/**
 * Kills of a service that is under load: while it takes swaps, at every step of its lane, and from outside in between.
 * @param kills the labels are left out from their end where there are fewer
 */
export function planKillsUnderLoad(kills: number, seed: number): KillStep[] {
  const random = seededRandom(seed);
  const atLabels = Math.ceil(kills * SHARE_AT_LABELS_OF_SERVICE);
  const acceptance = CRASH_LABELS.acceptance.map((label) => labelStep(`relayer.${label}`));
  const steps = [...acceptance, ...planServiceKills(Math.max(0, atLabels - acceptance.length))].slice(0, atLabels);
  while (steps.length < kills) {
    // Not between the steps of a ladder, which takes the last labels of a round.
    steps.splice(Math.floor(random() * Math.min(steps.length, acceptance.length + CRASH_LABELS.lane.length)), 0, {
      ...randomStep(random),
      atWork: true,
    });
  }
  return steps;
}

/** A transaction that is left unmined for so long has these labels follow. */
const LADDERS: Readonly<Partial<Record<LabelGroup, Pick<KillStep, "label" | "restMs">>>> = {
  replacement: { label: "lane.broadcast.before", restMs: UNTIL_REPLACED_MS },
  cancellation: { label: "lane.signed.after", restMs: UNTIL_PAST_DEADLINE_MS },
};

function ladders(
  prefix: string,
  groups: readonly LabelGroup[],
  share: { readonly offset: number; readonly each: number },
): KillStep[] {
  const steps: KillStep[] = [];
  const wantsSwap = prefix === "";
  for (const group of groups) {
    const start = LADDERS[group];
    if (start === undefined) continue;
    const isLast = share.offset === share.each - 1;
    if (group === "cancellation" && !isLast) {
      // The others lose their transaction before its bytes are written down: past the deadline nothing is left of it.
      steps.push(labelStep(`${prefix}lane.signed.before`, { restMs: start.restMs, wantsSwap }));
      continue;
    }
    const labels = CRASH_LABELS[group].filter(
      (_, index) => (isLast && group === "cancellation") || index % share.each === share.offset,
    );
    steps.push(
      labelStep(`${prefix}${start.label}`, { restMs: start.restMs, wantsSwap: wantsSwap && group === "cancellation" }),
    );
    steps.push(...labels.map((label) => labelStep(`${prefix}${label}`)));
  }
  return steps;
}

function labelsOf(groups: readonly LabelGroup[]): readonly string[] {
  return groups.flatMap((group) => CRASH_LABELS[group]);
}

/** Between the end of an effect and the commit of its answer nothing happens. */
function isSameInstant(label: string): boolean {
  return /^commit\.(?!started|transaction).*\.before$/.test(label);
}

function labelStep(label: string, change: Partial<KillStep> = {}): KillStep {
  return {
    label,
    passing: 1,
    afterMs: LABEL_WITHIN_MS,
    atWork: true,
    restMs: 0,
    frozenMs: 0,
    clock: undefined,
    act: undefined,
    wantsSwap: false,
    ...change,
  };
}

function randomStep(random: () => number): KillStep {
  const atWork = random() >= SHARE_WHILE_STARTING;
  const lifeMs = (atWork ? 0 : LOADED_AFTER_MS) - Math.log(1 - random()) * MEAN_LIFE_MS;
  const restMs = random() < 0.2 ? random() * 1_500 : 0;
  const frozenMs = random() < SHARE_FROZEN ? LEAST_FROZEN_MS + random() * LEAST_FROZEN_MS : 0;
  const clock = random() < SHARE_CLOCK ? randomClock(random) : undefined;
  const afterMs = Math.min(lifeMs, LONGEST_LIFE_MS) + (clock === undefined ? 0 : LIFE_WITH_CLOCK_MS);
  return { label: undefined, passing: 1, afterMs, atWork, restMs, frozenMs, clock, act: undefined, wantsSwap: false };
}

/** Set wrong from the start or later, then differently wrong, and right again, unless the kill comes first. */
function randomClock(random: () => number): string {
  const shift = (): number => {
    const size = CLOCK_SHIFTS_MS[Math.floor(random() * CLOCK_SHIFTS_MS.length)] ?? 0;
    return random() < 0.5 ? size : -size;
  };
  const wait = (): number => Math.round(-Math.log(1 - random()) * MEAN_TIME_OF_A_CLOCK_MS);
  const first = random() < 0.5 ? 0 : wait();
  const second = first + wait() + 1;
  return `${first}:${shift()},${second}:${shift()},${second + wait() + 1}:0`;
}

/** The steps of a ladder belong together. */
function placeOutsideLadders(track: readonly KillStep[], share: number): number {
  const starts = new Set(Object.values(LADDERS).map(({ restMs }) => restMs));
  const firstLadder = track.findIndex(({ restMs, label }) => label !== undefined && starts.has(restMs));
  return Math.floor(share * ((firstLadder === -1 ? track.length : firstLadder) + 1));
}

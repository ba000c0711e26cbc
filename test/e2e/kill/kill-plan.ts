import { CRASH_LABELS, type LabelGroup } from "./crash-labels.ts";

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
  return tracks;
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
    wantsSwap: false,
    ...change,
  };
}

function randomStep(random: () => number): KillStep {
  const atWork = random() >= SHARE_WHILE_STARTING;
  const lifeMs = (atWork ? 0 : LOADED_AFTER_MS) - Math.log(1 - random()) * MEAN_LIFE_MS;
  const restMs = random() < 0.2 ? random() * 1_500 : 0;
  const frozenMs = random() < SHARE_FROZEN ? LEAST_FROZEN_MS + random() * LEAST_FROZEN_MS : 0;
  const afterMs = Math.min(lifeMs, LONGEST_LIFE_MS);
  return { label: undefined, passing: 1, afterMs, atWork, restMs, frozenMs, wantsSwap: false };
}

/** The steps of a ladder belong together. */
function placeOutsideLadders(track: readonly KillStep[], share: number): number {
  const starts = new Set(Object.values(LADDERS).map(({ restMs }) => restMs));
  const firstLadder = track.findIndex(({ restMs, label }) => label !== undefined && starts.has(restMs));
  return Math.floor(share * ((firstLadder === -1 ? track.length : firstLadder) + 1));
}

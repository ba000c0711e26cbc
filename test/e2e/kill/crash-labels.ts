/**
 * The named instants at which a daemon or a relayer can be killed, in the order in which a swap passes them. The program
 * kills itself there when SWAPD_CRASH_AT names one; `crash-labels.test.ts` checks the list against the source.
 */

/** A run decides, and its swap is quoted and checked. */
const OF_A_DECISION = [
  "commit.started.before",
  "commit.started.after",
  "effect.ReadView.before",
  "effect.ReadView.after",
  "commit.view-read.before",
  "commit.view-read.after",
  "effect.FetchQuote.before",
  "effect.FetchQuote.after",
  "commit.quoted.before",
  "commit.quoted.after",
  "effect.ReadFacts.before",
  "effect.ReadFacts.after",
  "commit.facts-read.before",
  "commit.facts-read.after",
] as const;

/** A gasless swap: signed, submitted, and looked for on the chain. */
const OF_A_GASLESS_SWAP = [
  "effect.SignGasless.before",
  "gasless.sign.before",
  "gasless.sign.after",
  "effect.SignGasless.after",
  "commit.signed-gasless.before",
  "commit.signed-gasless.after",
  "effect.SubmitGasless.before",
  "gasless.submit.before",
  "gasless.submit.after",
  "effect.SubmitGasless.after",
  "commit.submission-accepted.before",
  "commit.submission-accepted.after",
  "effect.ReadChain.before",
  "effect.ReadChain.after",
  "commit.observed.before",
  "commit.observed.after",
] as const;

/** What a daemon passes only when something outside goes wrong, or when a person stops it. */
const IN_TROUBLE = [
  "commit.view-unavailable.before",
  "commit.view-unavailable.after",
  "commit.quote-refused.before",
  "commit.quote-refused.after",
  "commit.facts-unavailable.before",
  "commit.facts-unavailable.after",
  "commit.submission-unknown.before",
  "commit.submission-unknown.after",
  "commit.observation-unavailable.before",
  "commit.observation-unavailable.after",
] as const;

/** A person halts an account in the instants between the last check and the signature: the simulation aims there. */
const IN_A_RARE_MOMENT = ["commit.signing-barred.before", "commit.signing-barred.after"] as const;

/** What the lane reports a run of its transaction, and what is asked after a fill. */
const OF_A_FILL = [
  "commit.transaction.before",
  "commit.transaction.after",
  "effect.FetchRoute.before",
  "effect.FetchRoute.after",
  "commit.route-read.before",
  "commit.route-read.after",
] as const;

/** A transaction of an account: the daemon's own, or the relayer's. */
const OF_A_LANE = [
  "lane.reserve.after",
  "lane.sign.before",
  "lane.signed.before",
  "lane.signed.after",
  "lane.broadcast.before",
  "lane.broadcast.after",
  "lane.mined.before",
  "lane.mined.after",
  "lane.confirmed.after",
  "lane.final.before",
  "lane.final.after",
] as const;

/** A transaction that was sent and not mined is replaced with higher fees. */
const OF_A_REPLACEMENT = [
  "lane.bump.reserve.after",
  "lane.bump.sign.before",
  "lane.bump.signed.before",
  "lane.bump.signed.after",
  "lane.bump.broadcast.before",
  "lane.bump.broadcast.after",
] as const;

/** A transaction that was not mined before its deadline: its nonce is taken by an empty one. */
const OF_A_CANCELLATION = [
  "lane.cancel.reserve.after",
  "lane.cancel.sign.before",
  "lane.cancel.signed.before",
  "lane.cancel.signed.after",
  "lane.cancel.broadcast.before",
  "lane.cancel.broadcast.after",
] as const;

/** The owners of a Safe are asked for a swap. */
const OF_A_PROPOSAL = [
  "proposal.sign.before",
  "proposal.sign.after",
  "proposal.publish.before",
  "proposal.publish.after",
] as const;

/** The place where owners look for proposals does not take one. */
const OF_AN_UNDELIVERED_PROPOSAL = ["commit.proposal-undelivered.before", "commit.proposal-undelivered.after"] as const;

/** The service takes a gasless swap; only its process passes these. */
const OF_AN_ACCEPTANCE = ["accept.before", "accept.after"] as const;

/** All of them, by what is under way. */
export const CRASH_LABELS = {
  decision: OF_A_DECISION,
  gasless: OF_A_GASLESS_SWAP,
  lane: OF_A_LANE,
  fill: OF_A_FILL,
  replacement: OF_A_REPLACEMENT,
  cancellation: OF_A_CANCELLATION,
  trouble: IN_TROUBLE,
  rare: IN_A_RARE_MOMENT,
  proposal: OF_A_PROPOSAL,
  undelivered: OF_AN_UNDELIVERED_PROPOSAL,
  acceptance: OF_AN_ACCEPTANCE,
} as const;

export type LabelGroup = keyof typeof CRASH_LABELS;

const OF_OTHERS: readonly LabelGroup[] = ["acceptance", "rare", "proposal", "undelivered"];

/** The groups that a daemon passes when it is killed often enough. */
export const GROUPS_OF_A_DAEMON = (Object.keys(CRASH_LABELS) as LabelGroup[]).filter(
  (group) => !OF_OTHERS.includes(group),
);

/** All that a daemon can pass. */
export const LABELS_OF_A_DAEMON: readonly string[] = [
  ...GROUPS_OF_A_DAEMON.flatMap((group): readonly string[] => CRASH_LABELS[group]),
  ...CRASH_LABELS.rare,
];

import Database from "better-sqlite3";
import { replayAll } from "../../support/replays.ts";
import { type CampaignResult, killRepeatedly } from "./campaign.ts";
import { type ChainWitness, createChainWitness } from "./chain-witness.ts";
import { CRASH_LABELS } from "./crash-labels.ts";
import { lifeMinutesOf } from "./kill-harness.ts";
import { planDaemonKills, planLabelKills } from "./kill-plan.ts";
import { startDaemon } from "./kill-world.ts";
import { type Child, runSwapd } from "./processes.ts";
import { readRecorded } from "./recorded.ts";
import { auditAll, type Rest, readOpen, untilNothingIsOpen } from "./rest.ts";
import { type Execution, type Owners, startOwners } from "./treasury-owners.ts";
import { startTreasuryWorld, type TreasuryTrack, type TreasuryWorld } from "./treasury-world.ts";
import { checkAllowances, checkSlots } from "./verdict.ts";

export interface TreasuryReport {
  readonly seed: number;
  readonly kills: number;
  readonly passed: readonly string[];
  readonly proposals: number;
  readonly executions: number;
  /** tries of owners that reverted: late, once more, or with a nonce that was used */
  readonly reverted: number;
  /** proposals at a slot that had one before */
  readonly replaced: number;
  readonly acts: ReadonlyMap<string, number>;
  /** everything that is wrong */
  readonly violations: readonly string[];
}

export function summaryOf(report: TreasuryReport): string {
  const { seed, kills, passed, proposals, executions, reverted, replaced, acts } = report;
  const owners = [...acts].map(([act, count]) => `${act} ${count}`).join(", ");
  return (
    `Safes, seed ${seed}: ${kills} kills of daemons (${passed.length} at ${new Set(passed).size} labels), ` +
    `${proposals} proposals (${replaced} in the place of an earlier one), ${executions} executed, ${reverted} tries of owners reverted; ` +
    `owners: ${owners}`
  );
}

/** What a daemon of a Safe passes: a decision, and the way of an order, with the proposal's own instants. */
const LABELS: readonly string[] = [
  ...CRASH_LABELS.decision,
  ...CRASH_LABELS.gasless.filter((label) => !label.startsWith("gasless.")),
  ...CRASH_LABELS.proposal,
];
/** Of the kills, so many come at the labels in turn; the others at proposals and from outside. */
const SHARE_IN_TURN = 0.6;
const QUIET_MS = 60_000;

/** Kills the daemons of some Safes while their owners sign, execute, refuse and forget; then lets all come to rest and looks. */
export async function runTreasuryCampaign(options: {
  readonly tracks: number;
  readonly kills: number;
  readonly seed: number;
  report(text: string): void;
}): Promise<TreasuryReport> {
  const { kills, seed, report } = options;
  const world = await startTreasuryWorld({ tracks: options.tracks, lifeMinutes: lifeMinutesOf(kills) });
  const running: Child[] = [];
  const owners = new Map<TreasuryTrack, Owners>();
  let violations: readonly string[] = ["it did not get to the end"];
  try {
    const chain = createChainWitness(world.rpcUrl, world);
    report(
      `Safes: seed ${seed}, ${kills} kills, ${world.slowness.toFixed(1)} times slower, all of it in ${world.directory}`,
    );
    for (const [index, track] of world.tracks.entries()) {
      owners.set(track, startOwners(track, { seed: seed + index, slowness: world.slowness }));
    }
    const ends = await killAll(world, options);
    report(`${ends.kills} kills done, now it runs undisturbed`);
    const whileDead = await auditAll(world, "dead");
    for (const one of owners.values()) one.beGood();
    const rest = await comeToRest(world, running);
    for (const one of owners.values()) await one.stop();
    const found: string[] = [];
    for (const [track, { done }] of owners) {
      const wrong = await judge(track, done, { world, chain, pausedMs: rest.pausedMs });
      found.push(...wrong.map((violation) => `${track.name}: ${violation}`));
    }
    violations = [...ends.unexpected, ...whileDead, ...rest.violations, ...found];
    return { seed, kills: ends.kills, passed: ends.passed, ...countOf(world, owners), violations };
  } finally {
    for (const child of running) child.kill("SIGKILL");
    await Promise.all(running.map((child) => child.ended));
    for (const one of owners.values()) await one.stop().catch((error: unknown) => report(String(error)));
    await world.stop(violations.length > 0);
  }
}

async function killAll(
  { tracks, slowness }: TreasuryWorld,
  { kills, seed, report }: { readonly kills: number; readonly seed: number; report(text: string): void },
): Promise<CampaignResult> {
  const inTurn = Math.round(kills * SHARE_IN_TURN);
  const shared = { tracks: tracks.length, seed };
  const first = planLabelKills(LABELS, { ...shared, kills: inTurn });
  const second = planDaemonKills({ ...shared, kills: kills - inTurn, groups: ["proposal"], acts: false });
  const results = await Promise.all(
    tracks.map((track, index) => {
      // The second one begins in the middle, so that a short plan meets all labels.
      const steps = (first[index] ?? []).slice(0, Math.ceil(inTurn / tracks.length));
      const turned = index % 2 === 0 ? steps : steps.toReversed();
      const victim = { name: track.name, slowness, leftSwapUnsent: () => true, operate: async () => [], report };
      const start = (env: Readonly<Record<string, string>>) => startDaemon(track, env);
      return killRepeatedly({ ...victim, start }, [...turned, ...(second[index] ?? [])]);
    }),
  );
  return {
    kills: results.reduce((sum, one) => sum + one.kills, 0),
    passed: results.flatMap(({ passed }) => passed),
    notPassed: results.flatMap(({ notPassed }) => notPassed),
    unexpected: results.flatMap(({ unexpected }) => unexpected),
  };
}

/** Each daemon has to bring a swap to its end after the last kill; then nothing new begins, and all ends. */
async function comeToRest(world: TreasuryWorld, running: Child[]): Promise<Omit<Rest, "stopMs">> {
  const { tracks, slowness } = world;
  const before = new Map(tracks.map((track) => [track.name, finals(track)]));
  const daemons = tracks.map((track) => startDaemon(track));
  running.push(...daemons);
  const withinMs = QUIET_MS * slowness;
  const isTrading = () => tracks.every((track) => finals(track) > (before.get(track.name) ?? 0));
  const endMs = performance.now() + withinMs;
  while (!isTrading() && performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 500));
  const violations = isTrading() ? [] : [`not every Safe was filled within ${withinMs} ms of the last kill`];
  const pausedMs = Date.now();
  for (const track of tracks) {
    const { code, output } = await runSwapd(["pause", "--config", track.configuration], track.around);
    if (code !== 0) violations.push(`${track.name} did not pause: ${output}`);
  }
  const open = await untilNothingIsOpen({ ...world, profile: "fly", serviceDatabase: "" }, withinMs);
  violations.push(...open.map((thing) => `still open after ${withinMs} ms: ${thing}`));
  for (const daemon of daemons) daemon.kill("SIGTERM");
  for (const { ended } of daemons) {
    const { code, signal } = await ended;
    if (code !== 0) violations.push(`a daemon stopped with code ${code}, signal ${signal}`);
  }
  return { violations: [...violations, ...(await auditAll(world, "at rest"))], pausedMs };
}

function finals({ database }: TreasuryTrack): number {
  return readOpen(database, [{ what: "", sql: "SELECT id FROM swaps WHERE state = 'final'" }]).length;
}

/** Holds what owners executed against the rows, and against the chain. */
async function judge(
  { database, wallet }: TreasuryTrack,
  done: readonly Execution[],
  {
    world,
    chain,
    pausedMs,
  }: { readonly world: TreasuryWorld; readonly chain: ChainWitness; readonly pausedMs: number },
): Promise<string[]> {
  const recorded = readRecorded(database);
  const executed = done.filter(({ succeeded }) => succeeded);
  const found = [...checkSlots(recorded, world.strategies, pausedMs), ...replayAll(database).problems];
  for (const [place, twins] of Map.groupBy(executed, ({ swapId }) => placeOf(swapId))) {
    if (twins.length > 1) found.push(`${place} was executed in ${twins.map(({ hash }) => hash).join(" and ")}`);
  }
  const final = recorded.swaps.filter(({ state }) => state === "final");
  for (const { swapId, hash } of executed) {
    const claims = final.filter((swap) => swap.hash === hash);
    if (claims.length !== 1 || placeOf(claims[0]?.id ?? "") !== placeOf(swapId))
      found.push(
        `${swapId} was executed in ${hash}, which ${claims.map(({ id }) => id).join(", ") || "no swap"} claims`,
      );
  }
  for (const { id, hash } of final) {
    if (!executed.some((one) => one.hash === hash)) found.push(`${id} is final by ${hash}, which no owner executed`);
  }
  const spent = spentIn(database);
  const hashes = new Set(executed.map(({ hash }) => String(hash)));
  const outflows = (await chain.outflows(wallet)).filter(({ hash }) => hashes.has(hash));
  for (const { id, budget } of world.strategies) {
    const token = world.tokenOf[budget?.of ?? id.toUpperCase()];
    const sold = outflows.filter((one) => one.token === token).reduce((sum, { amount }) => sum + amount, 0n);
    if (sold !== (spent.get(id) ?? 0n)) found.push(`${id} sold ${sold}, and its ledger has ${spent.get(id) ?? 0n}`);
    if (budget !== undefined && sold > budget.amount) found.push(`${id} sold ${sold}, its budget is ${budget.amount}`);
  }
  const grant = { owner: wallet, spender: world.router, tokens: world.tokens };
  return [...found, ...(await checkAllowances(grant, chain))];
}

function placeOf(swapId: string): string {
  return swapId.slice(0, swapId.lastIndexOf("."));
}

/** What the ledger counts as spent, by strategy. */
function spentIn(database: string): ReadonlyMap<string, bigint> {
  const db = new Database(database, { readonly: true });
  try {
    const spent = new Map<string, bigint>();
    const rows = db
      .prepare<[], { strategy: string; amount: string }>(
        `SELECT runs.strategy, ledger.amount FROM ledger JOIN swaps ON swaps.id = ledger.swap_id
         JOIN runs ON runs.id = swaps.run_id WHERE ledger.state = 'spent'`,
      )
      .all();
    for (const { strategy, amount } of rows) spent.set(strategy, (spent.get(strategy) ?? 0n) + BigInt(amount));
    return spent;
  } finally {
    db.close();
  }
}

function countOf(
  { tracks }: TreasuryWorld,
  owners: ReadonlyMap<TreasuryTrack, Owners>,
): Pick<TreasuryReport, "proposals" | "executions" | "reverted" | "replaced" | "acts"> {
  const done = [...owners.values()].flatMap((one) => one.done);
  const asked = tracks.flatMap(({ database }) =>
    readOpen(database, [{ what: "", sql: "SELECT DISTINCT swap_id AS id FROM signatures WHERE kind = 'swap'" }]),
  );
  const acts = new Map<string, number>();
  for (const one of owners.values()) for (const [act, count] of one.acts) acts.set(act, (acts.get(act) ?? 0) + count);
  const executions = done.filter(({ succeeded }) => succeeded).length;
  const replaced = asked.length - new Set(asked.map(placeOf)).size;
  return { proposals: asked.length, executions, reverted: done.length - executions, replaced, acts };
}

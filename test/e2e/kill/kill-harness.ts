import { existsSync } from "node:fs";
import { type CampaignResult, killRepeatedly, type Victim } from "./campaign.ts";
import { type ChainWitness, createChainWitness } from "./chain-witness.ts";
import type { LabelGroup } from "./crash-labels.ts";
import { planAgain, planDaemonKills, planLabelKills, planServiceKills, seededRandom } from "./kill-plan.ts";
import { type KillWorld, type Profile, startDaemon, startKillWorld, startService, type Track } from "./kill-world.ts";
import { noPast, operate, type Past } from "./operator.ts";
import { after, type Child } from "./processes.ts";
import { leftSwapUnsent } from "./recorded.ts";
import { auditAll, comeToRest } from "./rest.ts";
import { checkAll } from "./verdict.ts";

export interface KillOptions {
  readonly profile: Profile;
  /** of daemons; the relayer's come on top of it */
  readonly kills: number;
  readonly serviceKills: number;
  /** at which labels */
  readonly groups: readonly LabelGroup[];
  /** these and no others, instead of the groups */
  readonly labels?: readonly string[];
  /** whether databases are restored and lost in between */
  readonly acts: boolean;
  /** whether the private endpoint keeps some of what it takes, and that is tried publicly */
  readonly fallsBack?: boolean;
  /** whether labels that were not passed when asked for are asked for again */
  readonly asksAgain: boolean;
  readonly seed: number;
  /** how long everything may take to come to rest */
  readonly quietMs: number;
  report(text: string): void;
}

/** What the whole exercise showed. */
export interface KillReport {
  readonly seed: number;
  readonly daemons: CampaignResult;
  readonly service: CampaignResult;
  readonly fills: { readonly selfExecuted: number; readonly gasless: number };
  /** transactions that were tried publicly because no block had the private one */
  readonly shown: number;
  /** faults on the way to node and service */
  readonly faults: number;
  /** lives whose wall clock was set */
  readonly clocks: number;
  readonly restored: number;
  readonly lost: number;
  /** labels of a daemon that were asked for, and that no life passed */
  readonly neverPassed: readonly string[];
  /** longest clean stop of a daemon, milliseconds */
  readonly stopMs: number;
  /** everything that is wrong; empty when all invariants hold */
  readonly violations: readonly string[];
}

/** A report in one line. */
export function summaryOf(profile: Profile, report: KillReport): string {
  const { daemons, service, fills, faults } = report;
  return (
    `${profile}, seed ${report.seed}: ${daemons.kills} kills of daemons (${daemons.passed.length} at ` +
    `${new Set(daemons.passed).size} labels), ${service.kills} of the service (${service.passed.length}); ${faults} faults, ` +
    `${report.clocks} lives with a clock that was set, ${report.restored} databases restored and ${report.lost} lost; ` +
    `${fills.selfExecuted} self-executed and ${fills.gasless} gasless fills, ${report.shown} orders shown after private ones; longest stop ${Math.round(report.stopMs)} ms`
  );
}

const TRACKS = 2;
const NOTHING_KILLED: CampaignResult = { kills: 0, passed: [], notPassed: [], unexpected: [] };

/** Of the calls to node and service something happens to so many: lost before or after, refused and lost, late, cut. */
const SHARE_OF_TROUBLE = 0.02;

/** Where there is a fallback, of the private transactions so many are kept back for ever. */
const SHARE_KEPT = 0.5;

/** What the double does wrong, over and over. */
const FAULTS = [
  "none",
  "lose-after",
  "none",
  "lose-before",
  "late",
  "none",
  "report-error",
  "none",
  "error-after-accept",
];

/** Kills daemons, and the service where it is ours, until the plan is done; then lets all come to rest and looks. */
export async function runKillCampaign(options: KillOptions): Promise<KillReport> {
  const { profile, report } = options;
  const { kills, seed, fallsBack = false } = options;
  const world = await startKillWorld(profile, { tracks: TRACKS, lifeMinutes: lifeMinutesOf(kills), seed, fallsBack });
  const running: Child[] = [];
  let violations: readonly string[] = ["it did not get to the end"];
  try {
    report(
      `${profile}: seed ${options.seed}, ${options.kills} kills of ${TRACKS} daemons, all of it in ${world.directory}`,
    );
    const chain = createChainWitness(world.rpcUrl, world);
    const funding = await fundingOf(world, chain);
    if (profile === "fly") await setFaults(world, FAULTS);
    trouble(world, SHARE_OF_TROUBLE);
    if (fallsBack) world.gates.submit.keep(SHARE_KEPT);
    const { daemons, service, asked, clocks, pasts } = await kill(world, options);
    trouble(world, 0);
    world.gates.submit.keep(0);
    report(`${daemons.kills} + ${service.kills} kills done, now it runs undisturbed`);
    const whileDead = await auditAll(world, "dead");
    if (profile === "fly") await setFaults(world, []);
    if (profile === "swapd") running.push(startService(world));
    const rest = await comeToRest(world, options.quietMs * world.slowness, running);
    const checked = await checkAll(world, { chain, funding, pasts, pausedMs: rest.pausedMs });
    const unexpected = [...daemons.unexpected, ...service.unexpected];
    violations = [...unexpected, ...whileDead, ...rest.violations, ...checked.violations];
    const faults = Object.values(world.gates).flatMap(({ done }) => Object.values(done));
    const count = faults.reduce((sum, each) => sum + each, 0);
    const done = [...pasts.values()].map((past) => past.done);
    const passed = new Set(daemons.passed);
    return {
      ...{
        seed,
        daemons,
        service,
        fills: checked.fills,
        shown: checked.shown,
        faults: count,
        clocks,
        stopMs: rest.stopMs,
        violations,
      },
      restored: done.reduce((sum, acts) => sum + acts.restore, 0),
      lost: done.reduce((sum, acts) => sum + acts.lose, 0),
      neverPassed: [...asked].filter((label) => !passed.has(label)),
    };
  } finally {
    for (const child of running) child.kill("SIGTERM");
    await Promise.all(running.map((child) => child.ended));
    await world.stop(violations.length > 0);
  }
}

/** Nothing of a world may end before its campaign, on however slow a machine: its processes end with this one anyway. */
export function lifeMinutesOf(kills: number): number {
  return 60 + 4 * kills;
}

/** Transfers that gave the wallets their funds, or that were there before any daemon. */
async function fundingOf(world: KillWorld, chain: ChainWitness): Promise<ReadonlySet<string>> {
  const before = await Promise.all(world.tracks.map(({ wallet }) => chain.outflows(wallet)));
  return new Set(before.flat().map(({ hash }) => hash));
}

function trouble(world: KillWorld, share: number): void {
  for (const gate of Object.values(world.gates)) gate.trouble(share);
}

async function setFaults(world: KillWorld, faults: readonly string[]): Promise<void> {
  const body = JSON.stringify({ faults, repeat: true });
  const answer = await fetch(`${world.serviceUrl}/control/faults`, { method: "POST", body });
  if (!answer.ok) throw new Error(`the double took no faults: ${answer.status}`);
}

interface Killed {
  readonly daemons: CampaignResult;
  readonly service: CampaignResult;
  /** labels of daemons */
  readonly asked: ReadonlySet<string>;
  readonly clocks: number;
  /** by the name of the track */
  readonly pasts: ReadonlyMap<string, Past>;
}

async function kill(world: KillWorld, options: KillOptions): Promise<Killed> {
  const pasts = new Map(world.tracks.map(({ name }) => [name, noPast()]));
  const plans =
    options.labels === undefined
      ? planDaemonKills({ ...options, tracks: TRACKS })
      : planLabelKills(options.labels, { kills: options.kills, tracks: TRACKS });
  const done = new AbortController();
  const service =
    world.profile === "swapd" ? killService(world, options, done.signal) : Promise.resolve(NOTHING_KILLED);
  const random = seededRandom(options.seed + 1);
  const victims = world.tracks.map((track) =>
    daemonVictim(world, { track, past: pasts.get(track.name) ?? noPast() }, options),
  );
  const daemons = victims.map(async (victim, index) => {
    // Not in step with each other.
    await after(random() * 500);
    return await killRepeatedly(victim, plans[index] ?? []);
  });
  const results = await Promise.all(daemons);
  const asked = new Set(plans.flat().flatMap(({ label }) => label ?? []));
  if (options.asksAgain) results.push(...(await killAtWhatIsLeft(victims, asked, results)));
  done.abort();
  const clocks = plans.flat().filter(({ clock }) => clock !== undefined).length;
  return { daemons: merged(results), service: await service, asked, clocks, pasts };
}

/** Rounds in which labels that were asked for and not passed yet are asked for again. */
const MOST_ROUNDS_AGAIN = 4;

async function killAtWhatIsLeft(
  victims: readonly Victim[],
  asked: ReadonlySet<string>,
  before: readonly CampaignResult[],
): Promise<readonly CampaignResult[]> {
  const results: CampaignResult[] = [];
  for (let round = 1; round <= MOST_ROUNDS_AGAIN; round += 1) {
    const passed = new Set([...before, ...results].flatMap((result) => result.passed));
    const left = [...asked].filter((label) => !passed.has(label));
    if (left.length === 0) break;
    const again = victims.map((victim, index) => {
      const share = left.filter((_, count) => (count + round) % victims.length === index);
      return killRepeatedly(victim, planAgain(share, round));
    });
    results.push(...(await Promise.all(again)));
  }
  return results;
}

/** Kills the service step by step, and keeps it alive in between as long as daemons are being killed. */
async function killService(world: KillWorld, options: KillOptions, done: AbortSignal): Promise<CampaignResult> {
  const victim: Victim = {
    name: "service",
    slowness: world.slowness,
    start: (env) => startService(world, env),
    leftSwapUnsent: () => true,
    operate: async () => [],
    report: options.report,
  };
  const result = await killRepeatedly(victim, planServiceKills(options.serviceKills));
  if (done.aborted) return result;
  const child = startService(world);
  await Promise.race([child.ended, new Promise<void>((resolve) => done.addEventListener("abort", () => resolve()))]);
  child.kill("SIGKILL");
  const { code, signal } = await child.ended;
  const unexpected = signal === "SIGKILL" ? [] : [`the service ended by itself with code ${code}`];
  return { ...result, unexpected: [...result.unexpected, ...unexpected] };
}

interface Owned {
  readonly track: Track;
  readonly past: Past;
}

function daemonVictim({ slowness }: KillWorld, { track, past }: Owned, options: KillOptions): Victim {
  return {
    name: track.name,
    slowness,
    start: (env) => startDaemon(track, env),
    leftSwapUnsent: () => existsSync(track.database) && leftSwapUnsent(track.database),
    operate: async (act) => {
      const began = performance.now();
      const wrong = await operate(track, past, act);
      options.report(
        `${track.name}: ${act} after ${Math.round(performance.now() - began)} ms${wrong.map((one) => `; ${one}`).join("")}`,
      );
      return wrong;
    },
    report: options.report,
  };
}

function merged(results: readonly CampaignResult[]): CampaignResult {
  return {
    kills: results.reduce((sum, { kills }) => sum + kills, 0),
    passed: results.flatMap(({ passed }) => passed),
    notPassed: results.flatMap(({ notPassed }) => notPassed),
    unexpected: results.flatMap(({ unexpected }) => unexpected),
  };
}

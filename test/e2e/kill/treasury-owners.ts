import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "../../../src/domain/money/address.ts";
import { readBatchFile, type TestSafe } from "../../support/safe.ts";
import { seededRandom } from "./kill-plan.ts";
import { after } from "./processes.ts";
import type { TreasuryTrack } from "./treasury-world.ts";

/** What owners did with a proposal. */
export interface Execution {
  readonly swapId: string;
  readonly hash: Hex;
  readonly succeeded: boolean;
}

/** The owners of a Safe at work. */
export interface Owners {
  readonly done: readonly Execution[];
  /** what they meant to do, and how often */
  readonly acts: ReadonlyMap<string, number>;
  /** From here on each proposal is executed, as it asks. */
  beGood(): void;
  stop(): Promise<void>;
}

type Act = (owners: {
  readonly safe: TestSafe;
  readonly path: string;
  try(nonce?: bigint): Promise<void>;
}) => Promise<void>;

const named: Act = async ({ path, try: tryIt }) => await tryIt(readBatchFile(path).nonce);

/** How owners treat what they are asked for, each as often as it stands here. */
const WAYS: Readonly<Record<string, Act>> = {
  "as asked": named,
  "as asked, soon": named,
  "as asked, at last": named,
  "with another nonce": async ({ safe, try: tryIt }) => {
    await safe.reject();
    await tryIt();
  },
  twice: async (owners) => {
    await named(owners);
    await owners.try();
  },
  rejected: async ({ safe }) => void (await safe.reject()),
  ignored: async () => undefined,
  "while they do something else": async (owners) => {
    await owners.safe.execute({ to: owners.safe.address, data: "0xaffed0e0", operation: 0 });
    await owners.try();
  },
};

const LOOK_EVERY_MS = 150;

/**
 * Owners look at the folder as people do: they execute what is there at once or later, by the named nonce or another one,
 * once, twice or never, and old files beside new ones.
 */
export function startOwners(track: TreasuryTrack, terms: { seed: number; slowness: number }): Owners {
  const random = seededRandom(terms.seed);
  const { safe, folder } = track;
  const [done, acts, seen] = [[] as Execution[], new Map<string, number>(), new Set<string>()];
  const state = { isOver: false, isGood: false };
  const late: string[] = [];
  const execute = async (name: string, nonce?: bigint): Promise<void> => {
    const { calls } = readBatchFile(join(folder, name));
    const { status, transactionHash } = await safe.execute(safe.batch(calls, nonce));
    done.push({ swapId: name.replace(/\.json$/, ""), hash: transactionHash as Hex, succeeded: status === "0x1" });
  };
  const treat = async (name: string): Promise<void> => {
    const ways = Object.keys(WAYS);
    const way = state.isGood ? "as asked" : (ways[Math.floor(random() * ways.length)] ?? "as asked");
    acts.set(way, (acts.get(way) ?? 0) + 1);
    await after(state.isGood ? 0 : random() * 2_000 * terms.slowness);
    await WAYS[way]?.({ safe, path: join(folder, name), try: (nonce) => execute(name, nonce) });
    if (random() < 0.5) late.push(name);
    // An old one beside what was proposed since: past its deadline it does nothing, before it may be the same slot's.
    const old = random() < 0.4 ? late.shift() : undefined;
    if (old === undefined) return;
    acts.set("an old one", (acts.get("an old one") ?? 0) + 1);
    await execute(old);
  };
  const work = async (): Promise<void> => {
    while (!state.isOver) {
      const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
      for (const name of files.filter((one) => !seen.has(one))) {
        seen.add(name);
        await treat(name);
      }
      await after(LOOK_EVERY_MS);
    }
  };
  const working = work();
  return {
    ...{ done, acts },
    beGood: () => {
      state.isGood = true;
    },
    stop: async () => {
      state.isOver = true;
      await working;
    },
  };
}

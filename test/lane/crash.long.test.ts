import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { GWEI, Killed, type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

const LANE = new URL("../../src/lane/", import.meta.url);
const PREFIXES = ["lane", "lane.bump", "lane.cancel"];

/** Every place of the source at which a lane can be killed. */
function labelsOfSource(): string[] {
  const sources = readdirSync(LANE).map((file) => readFileSync(new URL(file, LANE), "utf8"));
  const labels = sources.flatMap((source) =>
    [...source.matchAll(/"(lane\.[a-z.]+)"|`\$\{label\}(\.[a-z.]+)`/g)].flatMap(([, whole, end]) =>
      whole === undefined ? PREFIXES.map((prefix) => `${prefix}${end}`) : [whole],
    ),
  );
  return [...new Set(labels)].filter((label) => !PREFIXES.includes(label)).sort();
}

/** `cancelRequest`: a cancellation that a person asked for, where `cancel` comes from the deadline. */
type Story = "plain" | "bump" | "cancel" | "cancelRequest";

/** The story in which a lane passes a label. */
function storyOf(label: string): Story {
  if (label.startsWith("lane.bump.")) return "bump";
  return label.startsWith("lane.cancel.") ? "cancel" : "plain";
}

/** One block of a story: full ones until the second version is out, then ones with room. */
async function block(world: LaneWorld, story: Story, turn: number): Promise<void> {
  if (story === "plain") return await world.step();
  if (story === "cancel" && turn === 1) await world.anvil.rpc.call("evm_increaseTime", [600]);
  if (story === "cancelRequest" && world.intent("a").state === "broadcast") await world.lane.cancel("a", "ops");
  const second = world.attempts("a")[1];
  if (second === undefined || !world.sends().includes(second.raw)) await world.fullStep();
  else await world.step();
}

/** Lets a lane live through a story; whenever `dies` says so it is killed, and a fresh one goes on. */
async function live(story: Story, dies: (label: string) => boolean) {
  const world = await startLaneWorld();
  const deadlineSeconds = story === "cancel" ? Math.floor(world.clock.nowMs() / 1_000) + 60 : undefined;
  const first = world.submit("a", { deadlineSeconds, maxFeePerGasCap: 100n * GWEI });
  const second = world.submit("b");
  let kills = 0;
  world.switches.crashAt = dies;
  for (let turn = 0; turn < 60 && world.intent("b").state !== "final"; turn++) {
    try {
      await block(world, story, turn);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      kills++;
      world.restart();
      world.switches.crashAt = dies;
    }
  }
  return { world, kills, received: [await world.received(first), await world.received(second)] };
}

const CANCELLED = ["original", "cancel"];

function isCancelled(story: Story): boolean {
  return story === "cancel" || story === "cancelRequest";
}

async function expectOneOfEach(world: LaneWorld, story: Story): Promise<void> {
  expect(world.intent("a")).toMatchObject({ state: "final", outcome: isCancelled(story) ? "cancelled" : "succeeded" });
  expect(world.intent("b")).toMatchObject({ state: "final", outcome: "succeeded", nonce: 1 });
  expect(await world.count()).toBe(2);
  const attempts = [...world.attempts("a"), ...world.attempts("b")];
  const kinds = { plain: ["original"], bump: ["original", "replacement"], cancel: CANCELLED, cancelRequest: CANCELLED }[
    story
  ];
  expect(attempts.map(({ kind }) => kind)).toEqual([...kinds, "original"]);
  // Only what is stored was ever sent, and signing again gave the same bytes.
  const stored = new Set<string>(attempts.map(({ raw }) => raw));
  expect(world.sends().filter((raw) => !stored.has(raw))).toEqual([]);
  expect(new Set(world.signed.map(({ nonce, maxFeePerGas }) => `${nonce} ${maxFeePerGas}`)).size).toBe(stored.size);
  for (const id of ["a", "b"]) {
    const heard = world.heard(id);
    expect(heard.filter((kind) => kind === "signed").length).toBe(1);
    expect(heard.filter((kind) => kind === "final").length).toBe(1);
    expect(heard.at(-1)).toBe("final");
  }
}

describe("a lane that is killed once", () => {
  it("is killed at every place that the source names", () => {
    expect(labelsOfSource().length).toBe(23);
  });

  it.each(labelsOfSource())("at %s sends one transaction all the same", async (label) => {
    let isOver = false;
    const { world, kills, received } = await live(storyOf(label), (passed) => {
      if (isOver || passed !== label) return false;
      isOver = true;
      return true;
    });
    expect(kills).toBe(1);
    await expectOneOfEach(world, storyOf(label));
    expect(received).toEqual([storyOf(label) === "cancel" ? 0n : 5n, 5n]);
  });
});

describe("a lane that is killed again and again", () => {
  it.each(["plain", "bump", "cancel", "cancelRequest"] as const)(
    "at every place it comes to sends one transaction: %s",
    async (story) => {
      const died = new Set<string>();
      const { world, kills, received } = await live(story, (label) => {
        if (died.has(label)) return false;
        died.add(label);
        return true;
      });
      expect(kills).toBe(died.size);
      expect(kills).toBeGreaterThanOrEqual(story === "plain" ? 11 : 17);
      await expectOneOfEach(world, story);
      expect(received).toEqual([isCancelled(story) ? 0n : 5n, 5n]);
    },
  );
});

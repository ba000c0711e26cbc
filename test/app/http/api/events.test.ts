import { expect, it } from "vitest";
import { systemClock } from "../../../../src/adapters/clock/system-clock.ts";
import { createCommitSignal } from "../../../../src/app/commit-signal.ts";
import { type Heard, listen } from "../../../support/api-events.ts";
import { type ApiLife, startApiLife } from "../../../support/api-life.ts";
import { turn } from "../../../support/engine-life.ts";

const moves = (heard: readonly Heard[]): string[] =>
  heard.filter(({ event }) => event === "transition").map(({ data }) => `${data.id} ${data.to}`);

const stored = (life: ApiLife): unknown[] =>
  life.life.db.prepare("SELECT subject_id || ' ' || to_state FROM transitions ORDER BY id").pluck().all();

it("reports each move once and in order, woken by the daemon's own writes, and begins with what is true now", async () => {
  const life = await startApiLife({ seconds: 1 });
  const { heard } = listen(life);
  await expect.poll(() => heard.map(({ event }) => event)).toEqual(["alerts", "modes"]);
  await turn(life.outside, life.life, 60);
  await expect.poll(() => moves(heard), { timeout: 10_000 }).toEqual(stored(life));
  expect(stored(life).length).toBeGreaterThan(5);
}, 30_000);

it("resumes behind the last event that was heard, and misses nothing and repeats nothing", async () => {
  const life = await startApiLife({ seconds: 1 });
  const first = listen(life);
  await expect.poll(() => first.heard.length).toBe(2);
  await turn(life.outside, life.life, 5);
  await expect.poll(() => moves(first.heard).length).toBeGreaterThan(1);
  first.stop();
  const before = first.heard.slice(0, 4);
  await turn(life.outside, life.life, 60);
  const second = listen(life, before.at(-1)?.id);
  await expect.poll(() => [...moves(before), ...moves(second.heard)], { timeout: 10_000 }).toEqual(stored(life));
  expect(second.heard.some(({ event }) => event === "reset")).toBe(false);
}, 30_000);

it.each(["99999.1", "1.1", "nonsense"])(
  "says that nothing can be resumed behind %s, which is no move of this database",
  async (lastId) => {
    const life = await startApiLife();
    const { heard } = listen(life, lastId);
    await expect.poll(() => heard.map(({ event }) => event)).toEqual(["reset", "alerts", "modes"]);
  },
);

it("reports alerts and modes as they change", async () => {
  const life = await startApiLife({ seconds: 1 });
  const { heard } = listen(life);
  await expect.poll(() => heard.length).toBe(2);
  const row = { scope: "global", mode: "paused", setBy: "ops", reason: "<b>why</b>\n\nevent: evil", atMs: 1 } as const;
  await life.sources.store.commit([
    { question: { kind: "nothing" }, decide: () => ({ changes: [{ kind: "mode", row }], atMs: 1, value: undefined }) },
  ]);
  await expect
    .poll(() => heard.at(-1))
    .toMatchObject({
      event: "modes",
      data: { modes: [{ scope: "global", mode: "paused", by: "ops", reason: row.reason }] },
    });
  expect(heard.map(({ event }) => event)).toEqual(["alerts", "modes", "modes"]);
});

it("opens no more streams than it has place for, and has place again when one goes", async () => {
  const life = await startApiLife({ seconds: 1 });
  const all = Array.from({ length: 16 }, () => listen(life));
  await expect.poll(() => all.every(({ heard }) => heard.length === 2)).toBe(true);
  const refused = await life.as("read", "/api/v1/events");
  expect(refused.json).toMatchObject({ status: 429, code: "TOO_MANY" });
  // Whoever looks on keeps nobody else from that.
  const other = listen({ ...life, tokens: { ...life.tokens, read: life.tokens.operate } });
  await expect.poll(() => other.heard.length).toBe(2);
  all[0]?.stop();
  await expect
    .poll(async () => {
      const one = listen(life);
      await new Promise((resolve) => setTimeout(resolve, 300));
      return one.heard.length;
    })
    .toBe(2);
}, 20_000);

it("is nothing for a HEAD, which would take a place and hear nothing", async () => {
  const life = await startApiLife({ seconds: 1 });
  const heads = Array.from({ length: 16 }, () => life.as("read", "/api/v1/events", { method: "HEAD" }));
  expect((await Promise.all(heads)).map(({ status }) => status)).toEqual(heads.map(() => 404));
  const { heard } = listen(life);
  await expect.poll(() => heard.length).toBe(2);
});

it("is for nobody without a token", async () => {
  const life = await startApiLife({ seconds: 1 });
  expect((await life.ask("/api/v1/events")).status).toBe(401);
});

it("reports at once what was written while it looked, and waits for nothing else to happen", async () => {
  const signal = createCommitSignal(systemClock);
  const before = signal.count();
  signal.committed();
  const beganMs = performance.now();
  await signal.wait(10_000, undefined, before);
  expect(performance.now() - beganMs).toBeLessThan(1_000);
});

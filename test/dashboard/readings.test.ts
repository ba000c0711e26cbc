import { expect, it } from "vitest";
import { createReadings } from "../../dashboard/source/model/readings.ts";
import { createTurns } from "../../dashboard/source/model/turns.ts";

/** A daemon that answers when a test says so. */
function slowDaemon() {
  const asked: { path: string; signal: AbortSignal; answer(value: unknown): void; refuse(error: Error): void }[] = [];
  const readings = createReadings(
    (path, { signal }) =>
      new Promise((answer, refuse) => {
        asked.push({ path, signal, answer, refuse });
      }),
  );
  let shown = 0;
  return { readings, asked, show: (path: string) => readings.show(path, () => (shown += 1)), shown: () => shown };
}

const settled = async () => await new Promise((resolve) => setImmediate(resolve));

it("asks once at a time for what several show, however often it is wanted, and once more then", async () => {
  const { readings, asked, show, shown } = slowDaemon();
  show("/status");
  show("/status");
  for (let beat = 0; beat < 20; beat += 1) {
    readings.want("/status");
    readings.want("/status");
    await settled();
  }
  expect(asked).toHaveLength(1);
  asked[0]?.answer("active");
  await settled();
  expect([readings.latest("/status"), shown(), asked.length]).toEqual([{ value: "active" }, 2, 2]);
  asked[1]?.answer("halted");
  await settled();
  expect([readings.latest("/status"), shown(), asked.length]).toEqual([{ value: "halted" }, 4, 2]);
});

it("waits no more for what nobody shows, and never shows an answer to an older question", async () => {
  const { readings, asked, show } = slowDaemon();
  const leave = show("/status");
  readings.want("/status");
  await settled();
  leave();
  expect(asked[0]?.signal.aborted).toBe(true);
  show("/status");
  readings.want("/status");
  await settled();
  asked[1]?.answer("halted");
  await settled();
  asked[0]?.answer("active");
  await settled();
  expect(readings.latest("/status").value).toBe("halted");
  readings.want("/runs");
  expect(asked).toHaveLength(2);
});

it("says why something cannot be read until it can, and keeps what it showed", async () => {
  const { readings, asked, show } = slowDaemon();
  show("/status");
  for (const [end, trouble] of [
    [() => asked[0]?.answer("active"), undefined],
    [() => asked[1]?.refuse(new Error("the daemon cannot be reached")), "the daemon cannot be reached"],
    [() => asked[2]?.answer("active"), undefined],
  ] as const) {
    readings.want("/status");
    await settled();
    end();
    await settled();
    expect(readings.latest("/status")).toEqual({ value: "active", trouble });
  }
});

it("forgets what was read, and what is on its way, when another person comes in", async () => {
  const { readings, asked, show } = slowDaemon();
  show("/status");
  readings.want("/status");
  await settled();
  readings.forget();
  asked[0]?.answer("of the one before");
  await settled();
  expect(readings.latest("/status").value).toBeUndefined();
});

it("does so many things at once, and gives a place on whatever came of it", async () => {
  const inTurn = createTurns(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = [0, 1, 2, 3].map((one) =>
    inTurn(async () => {
      begun.push(one);
      await new Promise<void>((resolve, reject) => ends.push(one === 0 ? () => reject(new Error("late")) : resolve));
    }).catch(() => "refused"),
  );
  await settled();
  expect(begun).toEqual([0, 1]);
  for (const expected of [
    [0, 1, 2],
    [0, 1, 2, 3],
  ]) {
    ends.shift()?.();
    await settled();
    expect(begun).toEqual(expected);
  }
  for (const end of ends) end();
  expect(await Promise.all(all)).toEqual(["refused", undefined, undefined, undefined]);
});

import { expect, test } from "vitest";
import { showReading } from "../../src/app/audit-progress.ts";

const MINUTE_MS = 60_000;

async function saidBy(blocksPerMinute: number, total: number): Promise<readonly string[]> {
  const said: string[] = [];
  const terminal = { err: (text: string) => void said.push(text), isInteractive: false };
  let nowMs = 1_000;
  const read = async (onProgress: (done: number, total: number) => void) => {
    for (let done = 100; done <= total; done += 100) {
      nowMs += (100 / blocksPerMinute) * MINUTE_MS;
      onProgress(done, total);
    }
    return "read";
  };
  expect(await showReading(read, terminal, () => nowMs)).toBe("read");
  return said;
}

test("an audit that reads for longer than a minute says once a minute how far it is, where nobody sits at a terminal", async () => {
  expect(await saidBy(1_000, 3_300)).toEqual([
    "the events of 1000 of 3300 blocks are read (30%)",
    "the events of 2000 of 3300 blocks are read (60%)",
    "the events of 3000 of 3300 blocks are read (90%)",
  ]);
});

test("one that is done sooner says nothing", async () => {
  expect(await saidBy(4_000, 3_300)).toEqual([]);
});

test("what stops the audit is passed on", async () => {
  const gone = new Error("gone");
  const terminal = { err: () => undefined, isInteractive: false };
  await expect(showReading(() => Promise.reject(gone), terminal, Date.now)).rejects.toBe(gone);
});

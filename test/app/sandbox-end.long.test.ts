import { afterAll, beforeAll, expect, test } from "vitest";
import { type Ended, makeFolder, run } from "../e2e/support/swapd.ts";

const folder = makeFolder();
let ended: Ended;

beforeAll(async () => {
  ended = await run(folder.path, ["sandbox", "--port", "0", "--for", "40s"]);
}, 300_000);

afterAll(() => folder.remove());

test("a sandbox that stops says how its swaps ended, what they were worth, and what the audit found", () => {
  expect(ended.code, ended.err).toBe(0);
  const lines = ["stopping", ...ended.out.trim().split("\n").slice(-4)];
  expect(lines[1]).toMatch(/^[1-9][0-9]* swaps? filled/);
  expect(lines[2]).toMatch(
    /^sold [0-9]+\.[0-9]{2} USD for [0-9]+\.[0-9]{2} USD, at the reference prices of each swap$/,
  );
  expect(lines[3]).toBe("audit: no difference between database and chain");
  const printed = ended.out.split("\n").filter((line) => / -> [0-9.]+ [A-Z]+ {2}0x[0-9a-f]{64}$/.test(line));
  expect(lines[1]?.startsWith(`${printed.length} swap`)).toBe(true);
});

test("what would ask its chain says in one sentence that the sandbox has stopped, and what still can be read", async () => {
  for (const words of [["plan"], ["why", "eth-from-usdc", "--next"]]) {
    const { code, out, err } = await run(folder.path, words);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err.trim()).toMatch(/^the sandbox in \S+ has stopped, so no chain can be asked: start one with /);
    expect(err.trim().split("\n")).toHaveLength(1);
  }
  expect((await run(folder.path, ["history"])).code).toBe(0);
});

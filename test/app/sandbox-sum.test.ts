import { expect, test } from "vitest";
import { cutOff } from "../../src/app/cut-off.ts";
import { EXIT } from "../../src/app/exit-codes.ts";
import { swapsSum } from "../../src/app/sandbox-sum.ts";
import { PreflightError } from "../../src/engine/prepare.ts";
import { runSample } from "../support/builders.ts";
import { addRun, addStrategy, openDaemonDatabase } from "../support/daemon-database.ts";
import { swapIn } from "../support/reading-samples.ts";

const asItIs = (text: string): string => text;

test("the sum of a sandbox names what expired, was denied or skipped, and what is still open, beside what was filled", async () => {
  const { store, file } = openDaemonDatabase();
  addStrategy(store);
  const states = ["final", "expired", "expired", "denied", "skipped", "submitted", "confirmed"] as const;
  for (const [index, state] of states.entries()) {
    const id = `run_${index}`;
    const swap = swapIn(state, { id: `${id}.0.1`, runId: id } as never);
    addRun(store, runSample({ id, slotMs: 1_700_000_040_000 + index * 60_000, swaps: [swap] }));
  }
  expect(await swapsSum(file)).toEqual(["2 swaps filled, 2 expired, 1 denied, 1 skipped, 1 still open"]);
});

test("a sandbox that stops by itself ends with what helps: a full disk is tried again, and breaks no invariant", () => {
  const full = Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
  expect(cutOff("sandbox", full, asItIs)).toMatchObject({
    exitCode: EXIT.tryAgain,
    message: expect.stringContaining("rows stay readable"),
  });
  expect(cutOff("sandbox", new TypeError("ours"), asItIs)).toMatchObject({ exitCode: EXIT.invariant });
});

test("a rehearsal that stops by itself ends with what helps as well, and says that of itself", () => {
  const wrong = new PreflightError("CHAIN_ID_MISMATCH", "the endpoint is of another chain");
  const message = "the rehearsal stopped: the endpoint is of another chain; its rows stay readable until the next one";
  expect(cutOff("rehearsal", wrong, asItIs)).toMatchObject({
    exitCode: EXIT.configuration,
    message: expect.stringContaining(message),
  });
  expect(cutOff("rehearsal", new TypeError("ours"), asItIs)).toMatchObject({ exitCode: EXIT.invariant });
});

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { toAddress } from "../../../src/domain/money/address.ts";
import { type Refusal, refuse } from "../../../src/service/errors/errors.ts";
import { createIntake, type IntakeDependencies, type IntakeOptions } from "../../../src/service/relayer/intake.ts";
import type { ExecuteRequest } from "../../../src/service/relayer/signatures.ts";
import type { SwapRow } from "../../../src/service/store/service-store.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";

const RELAYER = toAddress(`0x${"0a".repeat(20)}`);
const SENDER = { name: "key 1", isKeyed: true };
const REQUEST: ExecuteRequest = { quoteId: "q", swapSignature: "0x01", permit: undefined };
const ROW = { quoteId: "q", swapSignature: "0x01", permitSignature: null, permitDeadline: null } as unknown as SwapRow;
const QUOTE = { id: "q", gasless: true, owner: RELAYER, sender: RELAYER, order: { toAsset: RELAYER } };

/** An intake whose node is silent until it is let go; whatever it would write is noted. */
function silentIntake() {
  const node = Promise.withResolvers<Refusal | undefined>();
  const seen: { row: SwapRow | undefined; written: number } = { row: undefined, written: 0 };
  const logger = createRecordingLogger();
  const dependencies = {
    ...{ logger, crashPoint: () => undefined, runner: { wake: () => undefined } },
    store: { swapBy: () => seen.row },
    quotes: { find: () => ({ kind: "found", quote: QUOTE }) },
    state: { refusal: () => node.promise },
    places: { refusal: () => undefined },
    lanes: { rows: { transaction: () => (seen.written += 1) } },
  };
  const options = { relayer: RELAYER, checkWithinMs: 50 } as IntakeOptions;
  return { intake: createIntake(options, dependencies as unknown as IntakeDependencies), node, seen, logger };
}

test("an order that a silent node keeps from being checked is refused in time, and is not taken afterwards either", async () => {
  const { intake, node, seen, logger } = silentIntake();
  const outcome = await Promise.race([intake.execute(REQUEST, SENDER), sleep(5_000, "no answer")]);
  expect(outcome).toMatchObject({ kind: "refused", error: "CHAIN_UNREACHABLE" });
  expect(outcome).toMatchObject({ detail: expect.stringMatching(/the order was not taken$/) });
  node.reject(new Error("the node is gone"));
  await sleep(20);
  expect([seen.written, logger.lines.map(({ message }) => message)]).toEqual([
    0,
    ["an order that was refused as late could not be checked"],
  ]);
});

test("what an equal request had taken meanwhile is the answer all the same", async () => {
  const { intake, seen } = silentIntake();
  const outcome = intake.execute(REQUEST, SENDER);
  seen.row = ROW;
  expect(await outcome).toEqual({ kind: "accepted", row: ROW });
});

test("what the checks say in time is the answer", async () => {
  const { intake, node } = silentIntake();
  node.resolve(refuse("GASLESS_STANDING"));
  expect(await intake.execute(REQUEST, SENDER)).toMatchObject({ kind: "refused", error: "GASLESS_STANDING" });
});

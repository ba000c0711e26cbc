import { expect, test } from "vitest";
import {
  acceptInTime,
  BUDGET,
  begin,
  copyTo,
  fill,
  fills,
  handOver,
  live,
  markerOf,
  nameAfterItsFile,
  open,
} from "../../support/databases-in-turn.ts";
import { openLife, turn, turnUntil } from "../../support/engine-life.ts";
import { leaveNoncesOut } from "../../support/leave-nonces-out.ts";

test("the fill of an order that an older copy only meant to sign is found, and counts in the budget", async () => {
  const outside = begin("only");
  const marker = markerOf(outside);
  await fill(outside, 1, marker);
  // Killed right before the second order is signed; the copy is of that instant.
  const life = openLife(outside, { marker, killAt: (label) => label === "gasless.sign.before" });
  nameAfterItsFile(life, outside);
  await life.engine.start();
  expect(await turnUntil(outside, life, { maxSeconds: 180, isDone: () => life.isDead() })).toBe(true);
  life.db.close();
  const restored = { ...outside, file: copyTo(outside, "copy.db") };
  // The newer one signs it, and it is filled.
  await fill(outside, 2, marker);
  expect(fills(outside)).toBe(2);
  const copy = await live(restored, marker);
  await turn(restored, copy, 5);
  expect(copy.store.openDifferences().map(({ kind }) => kind)).toEqual(["older", "fill"]);
  await acceptInTime(restored, copy);
  await turn(restored, copy, 600);
  expect([fills(outside), open(copy), copy.errors]).toEqual([BUDGET, [], []]);
});

test("a copy of between the signature of an order and its submission is an older one, and submits nothing", async () => {
  const outside = begin("only");
  leaveNoncesOut(outside.service);
  for (let block = 0; block < 6; block += 1) outside.chain.mine();
  const marker = markerOf(outside);
  // Killed right after its first order was signed: nothing has left yet.
  const signed = openLife(outside, { marker, killAt: (label) => label === "commit.signed-gasless.after" });
  nameAfterItsFile(signed, outside);
  await signed.engine.start();
  expect(await turnUntil(outside, signed, { maxSeconds: 90, isDone: () => signed.isDead() })).toBe(true);
  signed.db.close();
  const restored = { ...outside, file: copyTo(outside, "copy.db") };
  // The next life submits it, and the relayer keeps it for now.
  await handOver(outside, marker);
  const copy = await live(restored, marker);
  await turn(restored, copy, 60);
  expect([open(copy), outside.service.submissions.length, copy.errors]).toEqual([["older"], 1, []]);
});

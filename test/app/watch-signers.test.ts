import { expect, test } from "vitest";
import type { RemoteSigner } from "../../src/adapters/remote-signer/remote-signer.ts";
import { watchSigners } from "../../src/app/watch-signers.ts";
import { SigningError } from "../../src/domain/signing-error.ts";
import { NOW_MS } from "../support/builders.ts";
import { createOutside, openLife } from "../support/engine-life.ts";

function begin() {
  const outside = createOutside(NOW_MS);
  const life = openLife(outside);
  const watch = watchSigners(life.context.deps);
  const open = (): readonly string[] =>
    life.db.prepare<[], string>("SELECT code || ' of ' || subject FROM alerts WHERE over_at_ms IS NULL").pluck().all();
  const notified = (): readonly string[] => outside.reported.map(({ code }) => code);
  return { outside, life, watch, open, notified };
}

const AWAY = new SigningError("away", "the signer at vault:9000 does not answer");
const DIFFERENT = new SigningError("different", "the signer at vault:9000: it signed another transaction");

test("an absence is reported once while it lasts, and its end once", async () => {
  const { watch, open, notified } = begin();
  await watch.heard("main", AWAY);
  await watch.heard("main", AWAY);
  expect(open()).toEqual(["SIGNER_AWAY of signer of main"]);
  expect(notified()).toEqual(["SIGNER_AWAY"]);
  await watch.heard("main", undefined);
  await watch.heard("main", undefined);
  expect(open()).toEqual([]);
});

test("an absence says why it lasts now, without another message", async () => {
  const { watch, life, outside, notified } = begin();
  const text = (): unknown => life.db.prepare("SELECT text FROM alerts WHERE over_at_ms IS NULL").pluck().get();
  await watch.heard("main", AWAY);
  const rotated = new SigningError("refused", "the signer at vault:9000 has 1 keys, and none of 0xab");
  await watch.heard("main", rotated);
  expect(text()).toContain("does not answer");
  await outside.clock.advance(60_000);
  await watch.heard("main", rotated);
  expect(text()).toContain("has 1 keys, and none of 0xab");
  expect(notified()).toEqual(["SIGNER_AWAY"]);
});

test("another content than was asked for is an alert of its own, which no look ends", async () => {
  const { watch, open, outside } = begin();
  await watch.heard("main", DIFFERENT);
  expect(open()).toEqual(["SIGNED_SOMETHING_ELSE of answers of the signer of main"]);
  const looking = watch.keepLooking(new Map([["main", { whyUnable: async () => undefined } as RemoteSigner]]));
  await outside.clock.advance(120_000);
  expect(open()).toEqual(["SIGNED_SOMETHING_ELSE of answers of the signer of main"]);
  await watch.heard("main", undefined);
  expect(open()).toEqual([]);
  watch.stop();
  await outside.clock.advance(120_000);
  await looking;
});

test("a signer that is away is noticed without a slot, and its return as well", async () => {
  const { watch, open, outside } = begin();
  let trouble: SigningError | undefined = AWAY;
  let asked = 0;
  const signer = {
    whyUnable: async () => {
      asked += 1;
      return trouble;
    },
  } as RemoteSigner;
  const looking = watch.keepLooking(new Map([["main", signer]]));
  await outside.clock.advance(1);
  expect(open()).toEqual(["SIGNER_AWAY of signer of main"]);
  trouble = undefined;
  await outside.clock.advance(10_000);
  expect(open()).toEqual([]);
  await outside.clock.advance(600_000);
  expect(asked, "once a minute").toBeLessThan(14);
  watch.stop();
  await outside.clock.advance(60_000);
  await looking;
});

test("one that lists its accounts and signs nothing stays away", async () => {
  const { watch, open, outside } = begin();
  const looking = watch.keepLooking(new Map([["main", { whyUnable: async () => undefined } as RemoteSigner]]));
  await outside.clock.advance(1);
  await watch.heard("main", AWAY);
  await outside.clock.advance(120_000);
  expect(open()).toEqual(["SIGNER_AWAY of signer of main"]);
  await outside.clock.advance(600_000);
  expect(open(), "nothing failed for ten minutes, and it answers").toEqual([]);
  watch.stop();
  await outside.clock.advance(60_000);
  await looking;
});

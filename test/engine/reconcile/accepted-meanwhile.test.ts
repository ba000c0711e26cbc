import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { writeMarker } from "../../../src/engine/reconcile/identity.ts";
import { createReconciler } from "../../../src/engine/reconcile/reconciler.ts";
import { acceptAlone, begin, copyTo, fill, markerOf, nameAfterItsFile, open } from "../../support/databases-in-turn.ts";
import { ACCOUNT, openLife } from "../../support/engine-life.ts";
import { writtenBetween } from "../../support/written-between.ts";

test("a wallet that is accepted as new while the chain is asked for its trades is looked at before it signs", async () => {
  const outside = begin("only");
  await fill(outside, 1);
  for (let block = 0; block < 8; block += 1) outside.chain.mine();
  const emptied = { ...outside, file: join(dirname(outside.file), "another.db") };
  const life = openLife(emptied);
  nameAfterItsFile(life, emptied);
  const reconciler = createReconciler(life.context);
  await reconciler.begin();
  await reconciler.scan();
  expect(open(life)).toEqual(["new"]);
  await outside.clock.advance(3_600_000);
  const logs = outside.chain.logs.bind(outside.chain);
  let said = "";
  outside.chain.logs = async (query) => {
    if (said === "") said = await acceptAlone(life);
    return await logs(query);
  };
  await reconciler.scan();
  expect([said.slice(0, 10), open(life), life.store.knownChain(ACCOUNT)]).toEqual([
    "accepted 1",
    ["unchecked"],
    undefined,
  ]);
  await outside.clock.advance(1_000);
  outside.chain.mine();
  await reconciler.scan();
  expect([open(life), life.store.knownChain(ACCOUNT)]).toEqual([[], expect.anything()]);
});

test("what a person accepts while a check is written is not overwritten by what that check had begun with", async () => {
  const outside = begin("never", "none");
  await fill(outside, 1);
  const restored = { ...outside, file: copyTo(outside, "copy.db") };
  await fill(outside, 2);
  for (let block = 0; block < 8; block += 1) outside.chain.mine();
  const life = openLife(restored);
  const reconciler = createReconciler(life.context);
  await reconciler.begin();
  await reconciler.scan();
  expect(open(life)).toContain("nonce");
  await outside.clock.advance(3_600_000);
  const known = (): number | undefined => life.store.knownChain(ACCOUNT)?.transactionCount;
  const before = known();
  // The check asks for what is open first, and with what it found the second time.
  const store = writtenBetween(life.store, "standing", () => void acceptAlone(life));
  const again = createReconciler({ ...life.context, deps: { ...life.context.deps, store } });
  await again.scan();
  const accepted = known();
  expect([accepted !== before, open(life)]).toEqual([true, ["unchecked"]]);
  await outside.clock.advance(1_000);
  outside.chain.mine();
  await again.scan();
  expect([known(), open(life)]).toEqual([accepted, []]);
});

test("a marker does not go back where an older reading of the rows is written later", async () => {
  const outside = begin("only");
  const marker = markerOf(outside);
  await fill(outside, 1, marker);
  const { store } = openLife(outside, { marker });
  const { database, known } = await store.read({ kind: "standing", keys: [], wallets: [ACCOUNT] });
  const later = { ...database, signatures: database.signatures + 2 };
  writeMarker(marker, ACCOUNT, { database: later, known });
  writeMarker(marker, ACCOUNT, { database, known });
  expect(marker.read(ACCOUNT)?.state).toMatchObject(later);
  const sent = { ...later, signings: later.signings + 1 };
  writeMarker(marker, ACCOUNT, { database: sent, known });
  writeMarker(marker, ACCOUNT, { database: later, known });
  expect(marker.read(ACCOUNT)?.state).toMatchObject(sent);
});

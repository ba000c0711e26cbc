import { expect, test } from "vitest";
import {
  acceptAlone,
  begin,
  copyTo,
  fill,
  LIFETIME_SECONDS,
  live,
  markerOf,
  nameAfterItsFile,
} from "../../support/databases-in-turn.ts";
import { type Outside, openLife, turn } from "../../support/engine-life.ts";

/** Who is asked for logs by the checks of one life, while it has an unchecked wallet. */
async function askedBy(outside: Outside, seconds: number): Promise<readonly string[]> {
  const { chain } = outside;
  const asked: string[] = [];
  const [logs, agreed] = [chain.logs.bind(chain), chain.agreed.bind(chain)];
  chain.logs = async (filter) => {
    asked.push("one");
    return await logs(filter);
  };
  chain.agreed = async () => ({
    ...(await agreed()),
    logs: async (filter) => {
      asked.push("all");
      return await logs(filter);
    },
  });
  const life = await live(outside, markerOf(outside));
  await turn(outside, life, seconds);
  Object.assign(chain, { logs, agreed });
  await life.engine.stop();
  return [...new Set(asked)];
}

test("a dry run between an acceptance and the next start takes nothing of its check away", async () => {
  const outside = begin("only");
  const marker = markerOf(outside);
  await fill(outside, 1, marker);
  const other = { ...outside, spec: { ...outside.spec }, file: copyTo(outside, "copy.db") };
  await fill(outside, 2, marker);
  const life = openLife(other, { marker });
  nameAfterItsFile(life, other);
  await life.engine.start();
  await turn(other, life, 5);
  await life.engine.stop();
  await outside.clock.advance(LIFETIME_SECONDS * 1_000);
  expect(await acceptAlone(life)).toContain("accepted");
  life.db.close();
  outside.chain.mine();
  const dry = openLife(other, { marker, settings: { live: false } });
  await dry.engine.start();
  await turn(other, dry, 5);
  await dry.engine.stop();
  expect([dry.store.openDifferences(), dry.errors]).toEqual([[], []]);
  dry.db.close();
  expect(await askedBy(other, 3)).toEqual(["all"]);
  expect(await askedBy(other, 3)).toEqual(["one"]);
});

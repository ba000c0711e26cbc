import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  accept,
  begin,
  fills,
  handOver,
  LIFETIME_SECONDS,
  markerOf,
  nameAfterItsFile,
  open,
} from "../../support/databases-in-turn.ts";
import { openLife, turn } from "../../support/engine-life.ts";

test("what a lost database signed is waited for as long as that one signed, not as long as would be signed now", async () => {
  const outside = begin("only", 1);
  const { service, chain, clock } = outside;
  const marker = markerOf(outside);
  service.twist = (swap) => ({ ...swap, deadline: BigInt(Math.floor(clock.nowMs() / 1_000) + 250) });
  await handOver(outside, marker);
  service.twist = (swap) => swap;
  const lost = { ...outside, file: join(dirname(outside.file), "empty.db") };
  const probe = openLife(lost, { marker });
  const pace = { ...probe.context.settings.pace, maxLifetimeSeconds: 65 };
  probe.db.close();
  const life = openLife(lost, { marker, settings: { pace } });
  onTestFinished(() => life.engine.stop());
  nameAfterItsFile(life, lost);
  await life.engine.start();
  await turn(lost, life, 70);
  expect(await accept(life)).toMatch(/^refused: what another database signed may be filled until its deadline/u);
  chain.holdsRelayed = false;
  await turn(lost, life, LIFETIME_SECONDS);
  expect(await accept(life)).toContain("accepted 1");
  await turn(lost, life, 5);
  expect([open(life), await accept(life)]).toEqual([["fill"], expect.stringContaining("it counts in the budget of")]);
  await turn(lost, life, 200);
  expect([fills(outside), open(life), life.errors]).toEqual([1, [], []]);
});

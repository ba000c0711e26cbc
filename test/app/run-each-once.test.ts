import { expect, test } from "vitest";
import { CommandFailure, EXIT } from "../../src/app/exit-codes.ts";
import { runEachOnce } from "../../src/app/run-each-once.ts";
import type { Configuration } from "../../src/config/configuration.ts";
import { dcaSpec, NOW_MS, WALLET } from "../support/builders.ts";
import { addStrategy, openDaemonDatabase } from "../support/daemon-database.ts";
import { FakeClock } from "../support/fake-clock.ts";

const IDS = ["first", "second"];

/** Two strategies over the rows of a daemon that has just started, and what was asked and said of them. */
function begin(ask: (strategy: string) => Promise<unknown> = async () => undefined) {
  const { db, store, file } = openDaemonDatabase();
  const clock = new FakeClock(NOW_MS);
  const ending = new AbortController();
  const [asked, said]: [string[], string[]] = [[], []];
  const strategies = IDS.map((id) => ({ spec: dcaSpec({ id }) }));
  const done = runEachOnce({ strategies, database: file } as unknown as Configuration, {
    ask: async (strategy) => {
      asked.push(strategy);
      await ask(strategy);
    },
    ...{ terminal: { out: (text) => void said.push(text) }, clock, signal: ending.signal },
  });
  const findUnchecked = (): void => {
    const what = { wallet: WALLET, token: undefined, kind: "unchecked", scope: "wallet" } as const;
    const finding = { key: `unchecked ${WALLET}`, ...what, facts: { asks: "one" }, text: "is checked" };
    store.addDifference(finding, { ms: NOW_MS, sinceBoot: clock.sinceBoot() });
  };
  const endCheck = (): void => void db.prepare("DELETE FROM differences").run();
  const load = (): void => strategies.forEach(({ spec }) => void addStrategy(store, spec));
  return { clock, ending, asked, said, done, findUnchecked, endCheck, load };
}

test("each strategy is asked once, when the daemon has begun and its wallets are checked", async () => {
  const { clock, asked, said, done, findUnchecked, endCheck, load } = begin();
  await clock.advance(1_000);
  expect(asked).toEqual([]);
  findUnchecked();
  load();
  await clock.advance(20_000);
  expect(asked).toEqual([]);
  endCheck();
  await clock.advance(1_000);
  await done;
  expect([asked, said]).toEqual([IDS, []]);
});

test("what is refused is said, and does not keep the others; after a minute they are asked in any case", async () => {
  const { clock, asked, said, done } = begin(async (id) => {
    if (id === "first") throw new CommandFailure(EXIT.no, "refused: the daemon waits");
  });
  for (let second = 0; second < 59; second += 1) await clock.advance(1_000);
  expect(asked).toEqual([]);
  await clock.advance(1_000);
  await done;
  expect(asked).toEqual(IDS);
  expect(said).toEqual(["first does not run now: refused: the daemon waits"]);
});

test("nothing is asked of a daemon that is to stop", async () => {
  const { clock, ending, asked, done } = begin();
  await clock.advance(1_000);
  ending.abort();
  await done;
  expect(asked).toEqual([]);
});

import { expect, onTestFinished, test } from "vitest";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { SUBJECT } from "../../src/domain/run/alert.ts";
import { alertSample, SLOT_MS, USDC, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";

interface Begun {
  readonly outside: Outside;
  readonly life: Life;
  /** lets a slot come to nothing for want of a quote or of balances, or trade */
  readonly slot: (away: "service" | "node" | "nothing") => Promise<void>;
}

async function begin(): Promise<Begun> {
  const outside = createOutside(SLOT_MS - 1_500, {
    schedule: { kind: "every", seconds: 60 },
    retryForSeconds: 4,
    wallet: { name: "main", address: ACCOUNT },
  });
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  const balance = outside.chain.balance.bind(outside.chain);
  const slot: Begun["slot"] = async (away) => {
    outside.service.refuses = away === "service" ? refusal("HTTP_503", true) : undefined;
    outside.chain.balance =
      away === "node"
        ? async () => {
            throw new ChainReadError("unreachable", "no answer in time");
          }
        : balance;
    await turn(outside, life, 60);
  };
  return { outside, life, slot };
}

const alike = ({ outside }: Begun) => outside.reported.filter(({ code }) => code === "SLOTS_END_ALIKE");
const rows = ({ life }: Begun): unknown[] =>
  life.db.prepare("SELECT text, over_at_ms IS NOT NULL AS isOver FROM alerts WHERE code = 'SLOTS_END_ALIKE'").all();

test("a strategy whose slots come to nothing for two reasons by turns is told too, and it is over with a trade", async () => {
  const begun = await begin();
  const { outside, life, slot } = begun;
  for (let count = 0; count < 4; count += 1) await slot(count % 2 === 0 ? "service" : "node");
  const ends = life.db.prepare("SELECT reason FROM runs ORDER BY slot_ms").pluck().all();
  expect(ends.slice(0, 3)).toEqual(["quote_unavailable", "view_unavailable", "quote_unavailable"]);
  expect(outside.signed).toEqual([]);
  const text = /^weekly does not trade: 3 slots in a row, .* ended with quote_unavailable or view_unavailable; see why/;
  expect(alike(begun)).toEqual([expect.objectContaining({ text: expect.stringMatching(text) })]);
  await slot("nothing");
  await slot("nothing");
  expect(rows(begun)).toMatchObject([{ isOver: 1 }]);
  expect(life.errors).toEqual([]);
});

test("a reason that comes later is added to what is said, and nobody is notified again", async () => {
  const begun = await begin();
  for (let count = 0; count < 4; count += 1) await begun.slot("service");
  expect(rows(begun)).toEqual([{ isOver: 0, text: expect.stringContaining("ended with quote_unavailable; see") }]);
  for (let count = 0; count < 2; count += 1) await begun.slot("node");
  const text = expect.stringMatching(/ ended with quote_unavailable or view_unavailable; see/);
  expect(rows(begun)).toEqual([{ isOver: 0, text }]);
  expect(alike(begun)).toHaveLength(1);
});

test("a pair that was denied at one of them says nothing of those that ended for another reason", async () => {
  const begun = await begin();
  await begun.slot("service");
  const subject = SUBJECT.pair("weekly", { sell: USDC, buy: WETH });
  const atMs = begun.outside.clock.nowMs();
  begun.life.store.raiseAlert(alertSample({ code: "TOKEN_TAX", subject, strategy: "weekly", atMs }));
  for (let count = 0; count < 3; count += 1) await begun.slot(count % 2 === 0 ? "node" : "service");
  expect(alike(begun)).toHaveLength(1);
});

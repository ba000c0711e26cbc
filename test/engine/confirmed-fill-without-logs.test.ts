import { expect, onTestFinished, test } from "vitest";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { HUNDRED_USDC, SLOT_MS } from "../support/builders.ts";
import { createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";
import { leaveNoncesOut } from "../support/leave-nonces-out.ts";

function begin(): Outside {
  const budget = { total: HUNDRED_USDC };
  const outside = createOutside(SLOT_MS - 1_500, { gasless: "only", budget } as Partial<StrategySpec>);
  outside.service.swapRecord = async () => refusal("QUOTE_UNKNOWN", false);
  return outside;
}

/** All logs of before now are refused from now on. */
async function forgetLogs({ chain }: Outside): Promise<void> {
  const { number: newest } = await chain.latest();
  const [logs, agreed] = [chain.logs.bind(chain), chain.agreed.bind(chain)];
  chain.logs = async (filter) => {
    if (filter.fromBlock <= newest) throw new ChainReadError("refused", "eth_getLogs was refused: pruned history");
    return await logs(filter);
  };
  chain.agreed = async () => ({ ...(await agreed()), logs: chain.logs });
}

const state = ({ db }: Life): unknown => db.prepare("SELECT state FROM swaps").pluck().get();
const isTokenHeld = ({ db }: Life): boolean =>
  db.prepare("SELECT 1 FROM capabilities WHERE live = 1").get() !== undefined;

test.each([true, false])(
  "a fill that was confirmed is final by its receipt where no logs are kept (with a nonce: %s)",
  async (hasNonce) => {
    const outside = begin();
    if (!hasNonce) leaveNoncesOut(outside.service);
    const first = openLife(outside);
    await first.engine.start();
    expect(await turnUntil(outside, first, { maxSeconds: 20, isDone: () => state(first) === "confirmed" })).toBe(true);
    first.kill();
    await turn(outside, first, 1);
    first.db.close();
    await outside.clock.advance(172_800_000);
    for (let block = 0; block < 50; block += 1) outside.chain.mine();
    await forgetLogs(outside);
    const life = openLife(outside);
    onTestFinished(() => life.engine.stop());
    await life.engine.start();
    await turn(outside, life, 300);
    expect(outside.reported.map(({ code }) => code)).toContain("DATABASE_BEHIND");
    expect([state(life), isTokenHeld(life), life.errors]).toEqual(["final", false, []]);
  },
);

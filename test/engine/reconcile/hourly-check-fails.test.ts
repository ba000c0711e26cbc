import { expect, test } from "vitest";
import { ChainReadError } from "../../../src/domain/chain-read-error.ts";
import { RELAYER, USDC } from "../../support/builders.ts";
import { begin, live, markerOf, open } from "../../support/databases-in-turn.ts";
import { ACCOUNT, turn } from "../../support/engine-life.ts";

test.each(["only", "never"] as const)(
  "checks by the hour that come to nothing are reported (gasless: %s)",
  {
    timeout: 120_000,
  },
  async (gasless) => {
    const outside = begin(gasless, 1);
    const { chain, clock } = outside;
    const life = await live(outside, markerOf(outside));
    await turn(outside, life, 120);
    expect(open(life)).toEqual([]);
    const told = outside.reported.length;
    const { logs } = chain;
    chain.logs = () => Promise.reject(new ChainReadError("unreachable", "eth_getLogs: no answer within 10 s"));
    chain.takeAway({ token: USDC.address, from: ACCOUNT, to: RELAYER, amount: 50_000_000n });
    for (let second = 0; second < 6 * 3_600; second += 15) {
      await clock.advance(15_000);
      chain.mine();
    }
    expect(outside.reported.slice(told)).toMatchObject([
      { severity: "critical", code: "DATABASE_UNCHECKED", text: expect.stringContaining("eth_getLogs: no answer") },
    ]);
    chain.logs = logs;
    await turn(outside, life, 90);
    expect([open(life), life.errors]).toEqual([["outflow"], []]);
  },
);

import { describe, expect, test } from "vitest";
import { ChainReadError } from "../../../src/domain/chain-read-error.ts";
import { NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { createReconciler } from "../../../src/engine/reconcile/reconciler.ts";
import { POOL, USDC } from "../../support/builders.ts";
import { accept, begin, live, open } from "../../support/databases-in-turn.ts";
import { ACCOUNT, type Outside, openLife, turn } from "../../support/engine-life.ts";

type Agreed = Awaited<ReturnType<Outside["chain"]["agreed"]>>;

/** All endpoints but the first one say the truth, and so do all together, where nothing else is given. */
function othersSay({ chain }: Outside, given: Partial<Agreed> = {}): void {
  const { balance, transactionCount, agreed } = chain;
  chain.agreed = async () => ({
    ...(await agreed.call(chain)),
    balance: (...asked) => balance.apply(chain, asked),
    transactionCount: (...asked) => transactionCount.apply(chain, asked),
    ...given,
  });
}

function mine({ chain }: Outside, blocks: number): void {
  for (let block = 0; block < blocks; block += 1) chain.mine();
}

describe("what a person did before the first start", () => {
  test.each([0, 1, 3, 8])(
    "what a person moved %i blocks before the first start of a wallet is not told as an act of nobody's",
    async (blocks) => {
      const outside = begin("only");
      mine(outside, 8);
      outside.chain.takeAway({ token: USDC.address, from: ACCOUNT, to: POOL, amount: 300_000_000n });
      mine(outside, blocks);
      const life = await live(outside);
      await turn(outside, life, 5);
      const found = open(life);
      const said = found.length === 0 ? "" : accept(life);
      expect([found, said]).toEqual([[], ""]);
    },
  );

  test("what leaves the wallet in the block after its first look is told, whatever was accepted before", async () => {
    const outside = begin("only", "none");
    mine(outside, 8);
    const life = openLife(outside, {});
    const reconciler = createReconciler(life.context);
    reconciler.begin();
    await reconciler.look();
    expect(open(life)).toEqual([]);
    mine(outside, 1);
    outside.chain.takeAway({ token: USDC.address, from: ACCOUNT, to: POOL, amount: 1n });
    mine(outside, 1);
    await outside.clock.advance(3_600_000);
    await reconciler.look();
    expect(open(life)).toEqual(["outflow"]);
  });
});

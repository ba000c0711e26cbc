import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { ChainReadError } from "../../../src/domain/chain-read-error.ts";
import { NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { prepare } from "../../../src/engine/prepare.ts";
import { createReconciler } from "../../../src/engine/reconcile/reconciler.ts";
import { POOL, USDC } from "../../support/builders.ts";
import { accept, begin, fill, fills, LIFETIME_SECONDS, live, markerOf, open } from "../../support/databases-in-turn.ts";
import { ACCOUNT, type Life, type Outside, openLife, turn, turnUntil } from "../../support/engine-life.ts";

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
    "what a person moved %i blocks before the first start of a wallet is not reported as an act of nobody's",
    async (blocks) => {
      const outside = begin("only");
      mine(outside, 8);
      outside.chain.takeAway({ token: USDC.address, from: ACCOUNT, to: POOL, amount: 300_000_000n });
      mine(outside, blocks);
      const life = await live(outside);
      await turn(outside, life, 5);
      const found = open(life);
      const said = found.length === 0 ? "" : await accept(life);
      expect([found, said]).toEqual([[], ""]);
    },
  );

  test.each(["only", "never"] as const)(
    "what another database traded right before the first start of an accepted wallet is not reported as nobody's (gasless: %s)",
    async (gasless) => {
      const outside = begin(gasless, "none");
      mine(outside, 8);
      await fill(outside, 1);
      const another = { ...outside, file: join(dirname(outside.file), "another.db") };
      const marker = markerOf(outside);
      // As `init` leaves it.
      marker.write(ACCOUNT, { state: undefined, baseline: undefined });
      const life = await live(another, marker);
      await turn(another, life, 5);
      expect(open(life)).toEqual([]);
    },
  );

  test("what is traded right after a wallet that nobody accepted was found to have traded never is reported", async () => {
    const outside = begin("only", "none");
    const { chain } = outside;
    mine(outside, 8);
    // Another database's order is filled between the proof that the wallet never traded and its first count.
    const other = { ...outside, file: join(dirname(outside.file), "another.db") };
    const { agreed } = chain;
    let asked = 0;
    chain.agreed = async () => {
      asked += 1;
      if (asked === 2) await fill(other, 1);
      return await agreed.call(chain);
    };
    const life = await live(outside);
    await turn(outside, life, 30);
    expect(open(life)).toContain("fill");
  });

  test("an order of a lost database that is filled while a person decides on the wallet is reported after that", async () => {
    const outside = begin("only");
    const { chain } = outside;
    const oldest = await chain.latest();
    // As on mainnet: a block is final a quarter of an hour later.
    chain.finalized = async () => oldest;
    await fill(outside, 1);
    chain.holdsRelayed = true;
    const before = openLife(outside);
    await before.engine.start();
    const isOut = (): boolean => outside.service.submissions.length === 2;
    expect(await turnUntil(outside, before, { maxSeconds: 90, isDone: isOut })).toBe(true);
    before.kill();
    const emptied = { ...outside, file: join(dirname(outside.file), "another.db") };
    const life = await live(emptied);
    expect(open(life)).toEqual(["new"]);
    chain.holdsRelayed = false;
    await turn(emptied, life, LIFETIME_SECONDS);
    expect([fills(outside), await accept(life)]).toEqual([2, expect.stringContaining("accepted 1")]);
    await turn(emptied, life, 5);
    expect(open(life)).toContain("fill");
  });

  test("what leaves the wallet in the block after its first check is reported, whatever was accepted before", async () => {
    const outside = begin("only", "none");
    mine(outside, 8);
    const life = openLife(outside, {});
    const reconciler = createReconciler(life.context);
    await reconciler.begin();
    await reconciler.scan();
    expect(open(life)).toEqual([]);
    mine(outside, 1);
    outside.chain.takeAway({ token: USDC.address, from: ACCOUNT, to: POOL, amount: 1n });
    mine(outside, 1);
    await outside.clock.advance(3_600_000);
    await reconciler.scan();
    expect(open(life)).toEqual(["outflow"]);
  });
});

describe("what the audit and the books count from", () => {
  /** Block and balance that are counted from. */
  const countedFrom = ({ db }: Life): unknown =>
    db.prepare("SELECT block_number AS block, balance FROM baselines WHERE symbol = 'USDC'").get();
  const whatIsHeld = async ({ chain }: Outside): Promise<unknown> => ({
    block: (await chain.finalized()).number,
    balance: chain.ledger.balance(USDC.address, ACCOUNT).toString(),
  });
  /** The owner sends something, which is final by and by. */
  const moveOut = ({ chain, ...outside }: Outside, blocks: number): void => {
    chain.ledger.countUp(ACCOUNT);
    chain.takeAway({ token: USDC.address, from: ACCOUNT, to: POOL, amount: 300_000_000n });
    mine({ ...outside, chain }, blocks);
  };

  test.each([true, false])(
    "is what there is at the first live check, whatever an older release wrote down in a dry run (known to init: %s)",
    async (isKnown) => {
      const outside = begin("only", "none");
      const marker = markerOf(outside);
      if (isKnown) marker.write(ACCOUNT, { state: undefined, baseline: undefined });
      const dry = openLife(outside);
      await prepare(dry.context);
      const left = { ...{ symbol: "GONE", decimals: 6 }, blockNumber: 1, blockTimeSeconds: 1, balance: 5n };
      dry.store.addBaseline({ ...left, wallet: ACCOUNT, token: POOL });
      dry.db.close();
      moveOut(outside, 8);
      const life = await live(outside, marker);
      expect(countedFrom(life)).toEqual(await whatIsHeld(outside));
      expect(
        life.db.prepare("SELECT 1 FROM baselines WHERE symbol = 'GONE'").get(),
        "which is configured no more",
      ).toBe(undefined);
      await life.engine.stop();
      const begun = countedFrom(life);
      moveOut(outside, 8);
      const next = await live(outside, marker);
      await turn(outside, next, 5);
      expect(open(next)).toEqual(["nonce"]);
      expect(countedFrom(next), "a theft after it must not move it").toEqual(begun);
    },
  );

  test("is what there is once a person accepted a wallet that the database does not know, not at the first start", async () => {
    const outside = begin("only");
    await fill(outside, 1);
    const emptied = { ...outside, file: join(dirname(outside.file), "another.db") };
    const life = await live(emptied);
    expect(open(life)).toEqual(["new"]);
    moveOut(outside, 8);
    await turn(emptied, life, LIFETIME_SECONDS);
    expect(await accept(life)).toContain("accepted 1");
    const atLeast = (await outside.chain.finalized()).number;
    await turn(emptied, life, 5);
    expect(open(life)).toEqual([]);
    const { block, balance } = countedFrom(life) as { block: number; balance: string };
    expect([block >= atLeast, balance]).toEqual([true, outside.chain.ledger.balance(USDC.address, ACCOUNT).toString()]);
  });

  test("stays where a wallet signed before the chain was checked for it: what was taken since is to be found", async () => {
    const outside = begin("only", "none");
    await fill(outside, 1);
    const life = openLife(outside);
    life.db.exec("DELETE FROM known_chain");
    const begun = countedFrom(life);
    life.db.close();
    mine(outside, 8);
    const next = await live(outside);
    await turn(outside, next, 5);
    expect(countedFrom(next)).toEqual(begun);
  });
});

describe("the first count of transactions", () => {
  test("a first count of transactions by a node that is behind does not accuse somebody of using the key", async () => {
    const outside = begin("only", "none");
    const { chain } = outside;
    mine(outside, 8);
    chain.ledger.countUp(outside.spec.wallet.address);
    othersSay(outside);
    const { transactionCount } = chain;
    chain.transactionCount = async (account, block) =>
      (await transactionCount.call(chain, account, block)) - (block === "latest" ? 1 : 0);
    const life = await live(outside);
    await turn(outside, life, 3);
    chain.transactionCount = transactionCount;
    await life.engine.stop();
    const next = await live(outside);
    await turn(outside, next, 60);
    expect(open(next)).toEqual([]);
  });

  test("there is no baseline while the endpoints count differently, and nothing is signed; with the next agreement there is", async () => {
    const outside = begin("only", "none");
    mine(outside, 8);
    let isOne = false;
    const disagreement = new ChainReadError("disagreement", "the RPC endpoints disagree on a transaction count");
    const { agreed } = outside.chain;
    outside.chain.agreed = async () => {
      const reads = await agreed.call(outside.chain);
      return isOne ? reads : { ...reads, transactionCount: () => Promise.reject(disagreement) };
    };
    const life = await live(outside);
    await turn(outside, life, 20);
    expect([open(life), life.store.knownChain(ACCOUNT), outside.signed]).toEqual([["unchecked"], undefined, []]);
    isOne = true;
    await turn(outside, life, 10);
    expect([open(life), life.store.knownChain(ACCOUNT)?.transactionCount]).toEqual([[], 0]);
  });

  test("a transaction that one endpoint alone has in a block is waited for, an endpoint that is behind without one is not", async () => {
    const outside = begin("only", "none");
    const { chain } = outside;
    mine(outside, 8);
    const { agreed } = chain;
    let behind = 1;
    const head = await chain.latest();
    const newest = { ...head, number: head.number + 1 };
    // Of all endpoints the last one has not heard of the newest block for a while.
    chain.agreed = async () => {
      const reads = await agreed.call(chain);
      const number = reads.latest.number - behind;
      return { ...reads, latest: (await chain.block(number)) ?? newest };
    };
    mine(outside, 1);
    chain.ledger.countUp(ACCOUNT);
    const life = openLife(outside, {});
    const reconciler = createReconciler(life.context);
    await reconciler.begin();
    await reconciler.scan();
    expect([open(life), life.store.knownChain(ACCOUNT)]).toEqual([["unchecked"], undefined]);
    mine(outside, 1);
    await reconciler.scan();
    expect([open(life), life.store.knownChain(ACCOUNT)?.transactionCount]).toEqual([[], 1]);
    expect(life.store.knownChain(ACCOUNT)?.baseline.block).toBe((await chain.latest()).number - behind);
    behind = 0;
  });
});

describe("one false balance", () => {
  /** The first endpoint says more than the truth at each block that is named. */
  function lie({ chain }: Outside): () => void {
    const { balance } = chain;
    chain.balance = async (token, owner, block) =>
      (await balance.call(chain, token, owner, block)) + (token === USDC.address && block !== undefined ? 1n : 0n);
    return () => {
      chain.balance = balance;
    };
  }

  test("one false balance of one node at a check does not halt gasless swaps until a person accepts what never was", async () => {
    const outside = begin("only", "none");
    mine(outside, 8);
    const end = lie(outside);
    const life = await live(outside);
    await turn(outside, life, 3);
    end();
    await life.engine.stop();
    const next = await live(outside);
    await turn(outside, next, 300);
    expect(open(next)).toEqual([]);
  });

  test.each([1, 2, 3])("is not remembered, at whichever look it is reported: look %i", async (which) => {
    const outside = begin("only", "none");
    const { chain } = outside;
    mine(outside, 8);
    othersSay(outside);
    const life = openLife(outside, {});
    const reconciler = createReconciler(life.context);
    await reconciler.begin();
    const { balance } = chain;
    for (let check = 1; check <= 3; check += 1) {
      const end = check === which ? lie(outside) : () => undefined;
      await reconciler.scan();
      end();
      const known = life.store.knownChain(ACCOUNT);
      expect(known?.balances.get(USDC.address)).toBe(await balance.call(chain, USDC.address, ACCOUNT, known?.block));
      mine(outside, 6);
      await outside.clock.advance(3_600_000);
    }
    expect(open(life)).toEqual([]);
  });

  test("costs no check a read more where it is what the transfers since the last one explain", async () => {
    const outside = begin("only", "none");
    const { chain } = outside;
    mine(outside, 8);
    const life = openLife(outside, {});
    const reconciler = createReconciler(life.context);
    await reconciler.begin();
    await reconciler.scan();
    mine(outside, 6);
    await outside.clock.advance(3_600_000);
    const asked: string[] = [];
    othersSay(outside, {
      balance: () => Promise.reject(new Error("all endpoints were asked for a balance")),
      transactionCount: () => Promise.reject(new Error("all endpoints were asked for a count")),
    });
    const { balance, agreed } = chain;
    chain.balance = async (token, owner, block) => {
      asked.push(token);
      return await balance.call(chain, token, owner, block);
    };
    chain.agreed = async () => {
      asked.push("agreed");
      return await agreed.call(chain);
    };
    await reconciler.scan();
    const tokens = life.context.settings.tokens.filter(({ address }) => address !== NATIVE_TOKEN);
    // Each token at both ends, and the allowances of all of them together.
    expect(asked.toSorted()).toEqual(
      [...tokens, ...tokens]
        .map(({ address }) => address as string)
        .concat("agreed")
        .toSorted(),
    );
    expect(open(life)).toEqual([]);
  });

  test("keeps no first check waiting where the endpoints disagree on it or keep nothing so old", async () => {
    for (const code of ["disagreement", "refused", "unreachable"] as const) {
      const outside = begin("only", "none");
      mine(outside, 8);
      othersSay(outside, { balance: () => Promise.reject(new ChainReadError(code, "not together")) });
      const life = openLife(outside, {});
      const reconciler = createReconciler(life.context);
      await reconciler.begin();
      await reconciler.scan();
      expect([open(life), life.store.knownChain(ACCOUNT)?.balances]).toEqual([[], new Map()]);
      life.kill();
    }
  });
});

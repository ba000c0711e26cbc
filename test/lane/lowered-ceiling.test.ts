import { expect, test } from "vitest";
import { createSigner } from "../../src/adapters/keys/signer.ts";
import { SigningError } from "../../src/domain/signing-error.ts";
import { Secret } from "../../src/net/secret.ts";
import { ANVIL_KEY } from "../support/bare-anvil.ts";
import { GWEI, Killed, type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

const LOWERED = 5n * GWEI;

/** A lane under a ceiling, with a signer that may be away. */
async function begin(): Promise<{ world: LaneWorld; owner: { ceiling: bigint; isSignerAway: boolean } }> {
  const inner = createSigner(new Secret(ANVIL_KEY));
  const owner = { ceiling: 100n * GWEI, isSignerAway: false };
  const world = await startLaneWorld({
    maxFeePerGas: () => owner.ceiling,
    signer: {
      ...inner,
      signTransaction: async (transaction) => {
        if (owner.isSignerAway) throw new SigningError("away", "it is away");
        return await inner.signTransaction(transaction);
      },
    },
  });
  return { world, owner };
}

/** "a" is signed at a low base fee and in no block; higher fees for it are written down, and not signed. */
async function withWaitingReplacement(): ReturnType<typeof begin> {
  const { world, owner } = await begin();
  await world.baseFee(0.5);
  await world.anvil.mine();
  world.proxy.fault("eth_sendRawTransaction", { kind: "drop-before" });
  world.submit("a", { maxFeePerGasCap: 100n * GWEI });
  await world.tick();
  owner.isSignerAway = true;
  for (let block = 0; block < 5; block++) {
    await world.baseFee(30);
    await world.step();
  }
  expect(world.store.signings("a").map(({ kind }) => kind)).toEqual(["original", "replacement"]);
  expect(world.store.signings("a").at(-1)?.maxFeePerGas).toBeGreaterThan(LOWERED);
  expect(world.attempts("a")).toHaveLength(1);
  return { world, owner };
}

test("higher fees that wait for their signature are not signed above a ceiling that was lowered since: lower ones are", async () => {
  const { world, owner } = await withWaitingReplacement();
  owner.ceiling = LOWERED;
  world.restart();
  owner.isSignerAway = false;
  await world.baseFee(1);
  await world.step();
  expect(world.attempts("a").map(({ kind }) => kind)).toEqual(["original", "replacement"]);
  expect(world.attempts("a").filter(({ maxFeePerGas }) => maxFeePerGas > LOWERED)).toEqual([]);
  world.proxy.clear();
  await world.step(4);
  expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
});

test("a cancellation has a ceiling of its own: it is signed where higher fees are above the lowered one", async () => {
  const { world, owner } = await withWaitingReplacement();
  owner.ceiling = LOWERED;
  owner.isSignerAway = false;
  await world.lane.cancel("a", "ann");
  await world.baseFee(30);
  await world.step();
  expect(world.attempts("a").map(({ kind }) => kind)).toEqual(["original", "cancel"]);
  expect(world.attempts("a").at(-1)?.maxFeePerGas).toBeGreaterThan(LOWERED);
});

test("what has its nonce and no signature is not signed above a lowered ceiling, and lets something else have that nonce", async () => {
  const { world, owner } = await begin();
  world.submit("a");
  await world.baseFee(30);
  await world.anvil.mine();
  world.switches.crashAt = (label) => label === "lane.reserve.after";
  await expect(world.tick()).rejects.toThrow(Killed);
  owner.ceiling = LOWERED;
  world.restart();
  await world.baseFee(1);
  await world.step(2);
  expect([world.intent("a").state, world.attempts("a")]).toEqual(["planned", []]);
  const to = world.submit("b");
  await world.step(3);
  expect([world.intent("a").state, world.intent("b").nonce]).toEqual(["dropped", 0]);
  expect(world.attempts("b").filter(({ maxFeePerGas }) => maxFeePerGas > LOWERED)).toEqual([]);
  expect(await world.received(to)).toBe(5n);
});

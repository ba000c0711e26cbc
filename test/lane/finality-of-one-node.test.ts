import { expect, it } from "vitest";
import { type LaneWorld, startLaneWorld } from "../support/lane-world.ts";

/** A world of two endpoints in which a transaction is sent; one block is enough to confirm it. */
async function sentWorld(): Promise<LaneWorld> {
  const world = await startLaneWorld({ secondEndpoint: true, confirmations: 1 });
  await world.anvil.mine(3);
  world.submit("a");
  await world.tick();
  return world;
}

async function confirmedWorld(): Promise<LaneWorld> {
  const world = await sentWorld();
  await world.step();
  expect(world.intent("a").state).toBe("confirmed");
  return world;
}

const isFinalized = ([block]: readonly unknown[]): boolean => block === "finalized";

async function saysFinal(world: LaneWorld, proxy: LaneWorld["proxy"] | undefined, block: string): Promise<void> {
  const result = await world.anvil.rpc.call("eth_getBlockByNumber", [block, false]);
  proxy?.faultWhere({ method: "eth_getBlockByNumber", where: isFinalized }, { kind: "answer", result });
}

it.each(["at once", "later"])(
  "a success that one endpoint calls final %s is final only once the other one does: a fork takes it back till then",
  async (when) => {
    const world = when === "later" ? await confirmedWorld() : await sentWorld();
    if (when === "at once") await world.anvil.mine();
    await saysFinal(world, world.proxy, "latest");
    await world.tick(3);
    expect(world.intent("a").state).toBe("confirmed");
    await world.anvil.reorg(1);
    await world.tick();
    expect(world.intent("a").state).toBe("broadcast");
    world.proxy.clear();
    await world.step(4);
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
  },
);

it.each(["at once", "later"])(
  "a success is not final on a fork that one endpoint follows, whatever blocks both call final (seen %s)",
  async (when) => {
    const world = when === "later" ? await confirmedWorld() : await sentWorld();
    const noReceipt = { kind: "answer", result: null } as const;
    world.second?.fault("eth_getTransactionReceipt", noReceipt);
    await world.anvil.mine(6);
    await world.tick(2);
    expect(world.intent("a").state).toBe("confirmed");
    world.second?.clear();
    await world.step();
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
  },
);

it("a success ends although the other endpoint is away, and waits for one that is a few blocks behind", async () => {
  for (const trouble of ["away", "behind"]) {
    const world = await confirmedWorld();
    if (trouble === "away") world.second?.fault("eth_getBlockByNumber", { kind: "drop-before" });
    else await saysFinal(world, world.second, "0x0");
    await world.step(3);
    expect(world.intent("a").state, trouble).toBe(trouble === "away" ? "final" : "confirmed");
    world.second?.clear();
    await world.step();
    expect(world.intent("a")).toMatchObject({ state: "final", outcome: "succeeded" });
  }
});

it("all endpoints are asked when something of ours may be final, once a turn, and not at each check before that", async () => {
  const world = await startLaneWorld({ secondEndpoint: true, confirmations: 1 });
  const asked = () => world.second?.seen.length ?? 0;
  await saysFinal(world, world.proxy, "0x0");
  for (const id of ["a", "b", "c"]) world.submit(id);
  await world.tick();
  await world.step(3);
  const sent = asked();
  await world.step(3);
  expect(asked()).toBe(sent);
  world.proxy.clear();
  await world.anvil.mine(5);
  await world.tick();
  expect(["a", "b", "c"].map((id) => world.intent(id).state)).toEqual(["final", "final", "final"]);
  const methods = world.second?.seen.slice(sent).map(({ method }) => method);
  expect(methods?.filter((method) => method === "eth_getTransactionReceipt")).toHaveLength(3);
  expect(methods?.filter((method) => method === "eth_getBlockByNumber")).toHaveLength(2);
});

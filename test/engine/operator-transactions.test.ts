import { describe, expect, test } from "vitest";
import { takeRequests } from "../../src/engine/operator-requests.ts";
import { ETH, NOW_MS, RELAYER, ROUTER, runSample, USDC, WETH } from "../support/builders.ts";
import { addRun } from "../support/daemon-database.ts";
import { ACCOUNT, createOutside, openLife, turn } from "../support/engine-life.ts";
import { swapIn } from "../support/reading-samples.ts";

const asked = { wallet: ACCOUNT, token: USDC.address, spender: ROUTER };

function begin(options: Parameters<typeof openLife>[1] = {}) {
  const outside = createOutside(NOW_MS);
  outside.chain.ledger.setAllowance(USDC.address, ACCOUNT, 5n);
  const life = openLife(outside, options);
  // What is left of a swap that is over: the rows know who granted it.
  life.db
    .prepare("INSERT INTO grants (wallet, token, spender, granted_at_ms) VALUES (?, ?, ?, ?)")
    .run(ACCOUNT, USDC.address, ROUTER, NOW_MS);
  const ask = async (command: string, args: Record<string, string>): Promise<string | undefined> => {
    const id = life.store.addRequest({ command, arguments: args, madeBy: "ops", madeAtMs: 7 });
    await takeRequests(life.context);
    return life.store.answerOf(id);
  };
  const intents = () => life.db.prepare("SELECT id, purpose, to_address, state, outcome FROM lane_intents").all();
  return { outside, life, ask, intents };
}

describe("a revocation that is asked for", () => {
  test("is sent by the lane and takes the allowance back", async () => {
    const { outside, life, ask, intents } = begin();
    await life.engine.start();
    expect(await ask("revoke", asked)).toMatch(/^the allowance of USDC for 0x\w+ is being revoked by revoke_\d+/);
    await turn(outside, life, 8);
    expect(intents()).toMatchObject([{ purpose: "revoke", to_address: USDC.address, outcome: "succeeded" }]);
    expect(await outside.chain.allowance({ token: USDC.address, owner: ACCOUNT, spender: ROUTER })).toBe(0n);
    expect(life.errors).toEqual([]);
  });

  test("is refused while a swap of that wallet and token is open: it needs its allowance", async () => {
    const { life, ask, intents } = begin();
    addRun(life.store, runSample({ swaps: [swapIn("submitted", { wallet: ACCOUNT })] }));
    expect(await ask("revoke", asked)).toContain("refused: a swap or a revocation of USDC");
    expect(intents()).toEqual([]);
  });

  test("is sent once: a second wish finds the first one open", async () => {
    const { ask, intents } = begin();
    await ask("revoke", asked);
    expect(await ask("revoke", asked)).toContain("refused: a swap or a revocation of USDC");
    expect(intents()).toHaveLength(1);
  });

  test.each<[string, Record<string, string>, string]>([
    ["another wallet", { ...asked, wallet: RELAYER }, `refused: ${RELAYER} is no wallet of this daemon`],
    ["a token that is not configured", { ...asked, token: RELAYER }, `refused: ${RELAYER} is none of the configured`],
    ["the native coin, which has no allowances", { ...asked, token: ETH.address }, "is none of the configured tokens"],
    ["no address", { ...asked, spender: "router" }, "refused: a revocation needs the addresses"],
  ])("is refused for %s", async (_name, args, answer) => {
    const { ask, intents } = begin();
    expect(await ask("revoke", args)).toContain(answer);
    expect(intents()).toEqual([]);
  });

  test("is refused in a dry run, and while everything is halted", async () => {
    const dry = begin({ settings: { live: false } });
    expect(await dry.ask("revoke", asked)).toContain("refused: this is a dry run");
    const halted = begin();
    await halted.ask("mode", { mode: "halted" });
    expect(await halted.ask("revoke", asked)).toContain("refused: nothing is signed while it is halted");
    expect([...dry.intents(), ...halted.intents()]).toEqual([]);
  });
});

describe("a transaction that is to be cancelled", () => {
  test("is dropped while nothing of it was signed, by the lane's next turn", async () => {
    const { life, ask, intents } = begin();
    await ask("revoke", asked);
    const [{ id }] = intents() as [{ id: string }];
    expect(await ask("cancel", { intent: id })).toBe(`${id} is dropped: nothing of it was signed`);
    await life.lane.tick();
    expect(intents()).toMatchObject([{ state: "dropped" }]);
  });

  test("is cancelled at its nonce once it is out", async () => {
    const { life, ask, intents } = begin();
    await ask("revoke", asked);
    const [{ id }] = intents() as [{ id: string }];
    await life.lane.tick();
    expect(await ask("cancel", { intent: id })).toContain(`${id} is being cancelled at nonce 0`);
    expect(await ask("cancel", { intent: id })).toContain("ops asked for that already");
    await life.lane.tick();
    expect(life.lanes.attempts(id).map(({ kind }) => kind)).toEqual(["original", "cancel"]);
  });

  test("is refused when it is unknown, or nothing may be signed", async () => {
    const { life, ask, intents } = begin();
    expect(await ask("cancel", { intent: "swap_9" })).toBe('refused: no transaction "swap_9"; see: swapd tx list');
    await ask("revoke", { ...asked, token: WETH.address });
    const [{ id }] = intents() as [{ id: string }];
    await life.lane.tick();
    await ask("mode", { mode: "halted" });
    expect(await ask("cancel", { intent: id })).toContain(`refused: ${id} was signed`);
  });
});

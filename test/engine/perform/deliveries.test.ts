import { expect, test } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { Token } from "../../../src/domain/money/token.ts";
import { decideStrategy, initialStrategyMemory } from "../../../src/domain/strategy/strategy.ts";
import { readView } from "../../../src/engine/perform/read-view.ts";
import { registerStrategies } from "../../../src/engine/register-strategies.ts";
import { NOW_MS, RELAYER, rebalanceSpec, runSample, USDC, WETH } from "../../support/builders.ts";
import { addRun, addSwap } from "../../support/daemon-database.ts";
import { ACCOUNT, createOutside, openLife } from "../../support/engine-life.ts";
import { swapIn } from "../../support/reading-samples.ts";

const target = (token: Token, weight: number) => ({
  ...{ token, weight: toPpm(weight), exit: false, hard: undefined },
  soft: { relative: undefined, absolute: toPpm(150_000) },
});

/** A mix of 75 % ether and 25 % dollars that stands on its targets, to which another strategy's swap delivers an ether. */
test.each([false, true])(
  "what a swap of another wallet of ours delivers is no deposit that is traded, also where it is looked at before its confirmation (looked at: %s)",
  async (isChecked) => {
    const wallet = { name: "vault", address: ACCOUNT };
    const targets = [target(WETH, 750_000), target(USDC, 250_000)];
    const spec = rebalanceSpec({ wallet, recipient: ACCOUNT, targets, onDeposit: "buy-underweight" });
    const outside = createOutside(NOW_MS, spec as never);
    const { chain } = outside;
    const life = openLife(outside);
    await registerStrategies(life.context);
    const run = addRun(life.store, runSample({ state: "deciding", strategyId: "mix" }));
    let memory = initialStrategyMemory(spec);
    const check = async (): Promise<string> => {
      const answer = await readView(life.context, run);
      if (answer.kind !== "view-read") return answer.kind;
      const decision = decideStrategy(spec, answer.view, memory);
      memory = decision.memory;
      return decision.outcome.kind === "swap" ? "swap" : String(decision.outcome.reason);
    };
    expect(await check()).toBe("within_bands");
    chain.mine();
    chain.ledger.credit(WETH.address, ACCOUNT, 10n ** 18n);
    const { number, hash } = await chain.latest();
    const swap = swapIn("mined", { id: "a", wallet: RELAYER, recipient: ACCOUNT });
    const fill = { ...swap.fill, bought: 10n ** 18n, blockNumber: number, blockHash: hash };
    const filled = { ...swap, fill: fill as NonNullable<typeof swap.fill> };
    if (isChecked) {
      const owner = addSwap(life.store, filled);
      const first = await check();
      const moved = { ...owner, swaps: owner.swaps.map((one) => ({ ...one, state: "confirmed" as const })) };
      const transition = { subject: "swap", subjectId: "a", from: "mined", to: "confirmed" } as const;
      life.store.saveRun(moved, [{ ...transition, reason: undefined, detail: undefined }], NOW_MS, owner);
      expect([first, await check()]).toEqual(["within_bands", "within_bands"]);
    } else {
      addSwap(life.store, { ...filled, state: "confirmed" });
      expect(await check()).toBe("within_bands");
    }
  },
);

test("what another wallet's swap brought this one is no withdrawal, and then a deposit, by a node that is behind it", async () => {
  const wallet = { name: "vault", address: ACCOUNT };
  const outside = createOutside(NOW_MS, { ...rebalanceSpec(), wallet, onDeposit: "buy-underweight" } as never);
  const { chain } = outside;
  const life = openLife(outside);
  await registerStrategies(life.context);
  const run = addRun(life.store, runSample({ state: "deciding", strategyId: "mix" }));
  const outsideEther = async () => {
    const answer = await readView(life.context, run);
    if (answer.kind === "view-unavailable") return "asked again";
    return answer.kind === "view-read" ? answer.view.outside.get(WETH.address) : answer.kind;
  };
  const before = await chain.latest();
  const own = await outsideEther();
  expect(own).toBe(3n * 10n ** 18n);
  chain.mine();
  chain.ledger.credit(WETH.address, ACCOUNT, 10n ** 18n);
  const { number, hash } = await chain.latest();
  const swap = swapIn("confirmed", { id: "a", wallet: RELAYER, recipient: ACCOUNT });
  const fill = { ...swap.fill, bought: 10n ** 18n, blockNumber: number, blockHash: hash } as NonNullable<
    typeof swap.fill
  >;
  addSwap(life.store, { ...swap, fill });
  expect(await outsideEther()).toBe(own);
  const { latest } = chain;
  chain.latest = async () => before;
  expect([own, "asked again"]).toContain(await outsideEther());
  chain.latest = latest;
});

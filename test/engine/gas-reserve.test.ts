import { expect, test } from "vitest";
import { toAddress } from "../../src/domain/money/address.ts";
import { USD_DECIMALS, type UsdPrice } from "../../src/domain/money/price.ts";
import type { Run } from "../../src/domain/run/run.ts";
import type { SweepSpec } from "../../src/domain/strategy/sweep.ts";
import { gasReserveOf } from "../../src/engine/gas-reserve.ts";
import { gatherEvidence } from "../../src/engine/gather-evidence.ts";
import { readView } from "../../src/engine/perform/read-view.ts";
import { registerStrategies } from "../../src/engine/register-strategies.ts";
import { dcaSpec, ETH, NOW_MS, runSample, USDC } from "../support/builders.ts";
import { addRun } from "../support/daemon-database.ts";
import { ACCOUNT, createOutside, openLife } from "../support/engine-life.ts";

const wallet = { name: "main", address: ACCOUNT };
const POLICY_RESERVE = 10n ** 16n;
const LAST_RESORT = 5n * 10n ** 15n;

function dollars(whole: bigint): UsdPrice {
  return (whole * 10n ** BigInt(USD_DECIMALS)) as UsdPrice;
}

const tank: SweepSpec = {
  ...dcaSpec({ id: "gas-tank", wallet, recipient: ACCOUNT }),
  kind: "sweep",
  from: [{ token: USDC, keep: 0n, above: undefined }],
  to: ETH,
  refill: { below: 2n * 10n ** 16n, to: 6n * 10n ** 16n, lastResort: LAST_RESORT },
  lot: { min: dollars(10n), max: dollars(500n) },
  maxPerDay: undefined,
  cooldownSeconds: 600,
  exit: false,
};

async function begin() {
  const seller = dcaSpec({
    id: "seller",
    wallet,
    recipient: ACCOUNT,
    sell: { token: ETH, raw: 10n ** 18n },
    buy: USDC,
  });
  const strategies = [seller, tank].map((spec) => ({ spec, specHash: "spec" }));
  const life = openLife(createOutside(NOW_MS), { settings: { strategies } });
  await registerStrategies(life.context);
  const runOf = (strategyId: string) =>
    addRun(life.store, runSample({ id: `run_${strategyId}`, state: "deciding", strategyId }));
  return { life, seller, sellers: runOf("seller"), tanks: runOf("gas-tank") };
}

test("SWP-11 other strategies of the wallet leave a gas tank's last resort, and the tank itself may use it", async () => {
  const { life, seller, sellers, tanks } = await begin();
  const reserveOf = async (run: Run) =>
    (await gatherEvidence(life.context, run, { kind: "started" })).policy.gasReserve;
  expect(await reserveOf(sellers)).toBe(POLICY_RESERVE + LAST_RESORT);
  expect(await reserveOf(tanks)).toBe(POLICY_RESERVE);
  const elsewhere = { name: "other", address: toAddress(`0x${"b".repeat(40)}`) };
  expect(gasReserveOf(life.context, { ...seller, wallet: elsewhere })).toBe(POLICY_RESERVE);
});

test("SWP-11 a last resort that is edited counts with the next step of a strategy that was judged before", async () => {
  const { life, sellers } = await begin();
  const judged = async () => await gatherEvidence(life.context, sellers, { kind: "started" });
  const before = await judged();
  expect((await judged()).policy).toBe(before.policy);
  const strategies = life.context.settings.strategies.filter(({ spec }) => spec.id !== tank.id);
  Object.defineProperty(life.context.settings, "strategies", { value: strategies });
  expect((await judged()).policy).toEqual({ ...before.policy, gasReserve: POLICY_RESERVE });
});

test("SWP-11 what is kept for a refill is not free to be sold", async () => {
  const { life, sellers } = await begin();
  const answer = await readView(life.context, sellers);
  if (answer.kind !== "view-read") throw new Error(`no view: ${answer.kind}`);
  expect(answer.view.free.get(ETH.address)).toBe(10n ** 19n - POLICY_RESERVE - LAST_RESORT);
});

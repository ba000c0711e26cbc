import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { openDatabase } from "../../src/storage/database.ts";
import { compile, problemsOf } from "./support/compile-example.ts";
import { type DeskTrade, openDeskTrade } from "./support/desk-trade.ts";
import { run, workedExample } from "./support/worked-example.ts";

const { blocks, build } = workedExample("docs/WRITING-A-SERVICE.md", [".dependency-cruiser.cjs"]);
const code = blocks.map(({ path }) => path);
const BIOME = "node_modules/@biomejs/biome/bin/biome";
const CRUISER = "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs";

/** A compiler alongside other tests on two cores. */
const LONG = { timeout: 120_000 };

test("the example has the project's types, format and boundaries, and its own tests pass", LONG, () => {
  const folder = build();
  const biome = run(folder, BIOME, "ci", "--colors=off", "--vcs-enabled=false", ...code);
  expect(biome, biome.output).toMatchObject({ status: 0 });
  expect(problemsOf(compile(folder, code))).toEqual([]);
  const cruised = run(folder, CRUISER, "--config", ".dependency-cruiser.cjs", "src/adapters/swap-service");
  expect(cruised, cruised.output).toMatchObject({ status: 0 });
  const vitest = run(folder, "node_modules/vitest/vitest.mjs", "run", "test/adapters/swap-service/desk");
  expect(vitest, vitest.output).toMatchObject({ status: 0 });
});

const WITHIN_MS = 120_000;

const history = z.object({
  runs: z.array(z.object({ swaps: z.array(z.object({ state: z.string(), mode: z.string().nullable() })) })),
});

/** States of the swaps so far, by their modes. */
async function swapsOf({ swapd }: DeskTrade): Promise<readonly { state: string; mode: string | null }[]> {
  const { code: status, out } = await swapd(["history", "--json"]).ended;
  return status === 0 ? history.parse(JSON.parse(out)).runs.flatMap((entry) => entry.swaps) : [];
}

/** Lets a daemon of the copy trade until both ways were gone to their end, and nothing is in flight. */
async function trade(world: DeskTrade): Promise<void> {
  const daemon = world.swapd(["start", "--for", "5m"]);
  const deadlineMs = performance.now() + WITHIN_MS;
  const wait = async (what: string, isTrue: () => Promise<boolean>): Promise<void> => {
    while (!(await isTrue())) {
      if (performance.now() > deadlineMs) throw new Error(`${what} came not:\n${daemon.output()}`);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  };
  try {
    await wait("a final swap of each mode", async () => {
      const final = (await swapsOf(world)).filter(({ state }) => state === "final");
      return new Set(final.map(({ mode }) => mode)).size === 2;
    });
    // An order that is filled while nobody follows it is explained by no row yet.
    await world.swapd(["pause"]).ended;
    await wait("the end of all swaps", async () => (await swapsOf(world)).every(({ state }) => OVER.has(state)));
  } finally {
    daemon.stop();
    await daemon.ended;
  }
}

const OVER: ReadonlySet<string> = new Set(["final", "skipped", "denied", "reverted", "expired", "cancelled"]);

describe("a daemon of the copy, with a double of the service on a real chain", () => {
  test("trades by its own transactions and by orders, and the audit finds no difference", LONG, async () => {
    const world = await openDeskTrade(build());
    onTestFinished(() => world.stop());
    await trade(world);
    const audit = await world.swapd(["audit"]).ended;
    expect(audit, audit.out).toMatchObject({ code: 0, out: expect.stringContaining("No difference") });

    const { spender, target, verifyingContract } = world.named;
    const db = openDatabase({ file: world.database, readonly: true });
    onTestFinished(() => void db.close());
    const all = (sql: string): unknown[] => db.prepare<[], string>(sql).pluck().all();
    expect(all("SELECT DISTINCT spender FROM capabilities UNION SELECT spender FROM grants")).toEqual([spender]);
    expect(all("SELECT DISTINCT to_address FROM lane_intents WHERE purpose = 'swap'")).toEqual([target]);
    const orders = all("SELECT typed_data FROM signatures WHERE kind = 'swap' AND signature IS NOT NULL");
    const contracts = orders.map((text) => JSON.parse(String(text)).domain.verifyingContract);
    expect([...new Set(contracts)]).toEqual([verifyingContract]);
  });

  test("signs nothing where one of the three is pinned as another one of them, and says which", LONG, async () => {
    const world = await openDeskTrade(build());
    onTestFinished(() => world.stop());
    const { spender, target, verifyingContract } = world.named;
    const why = async (strategy: string, named: typeof world.named): Promise<string> =>
      (await world.swapd(["why", strategy, "--next"], named).ended).out;
    expect(await why("own", { ...world.named, target: spender })).toContain("TARGET_NOT_PINNED");
    expect(await why("own", { ...world.named, spender: target })).toContain("SPENDER_NOT_PINNED");
    expect(await why("signed", { ...world.named, verifyingContract: target })).toContain(
      `names the contract ${verifyingContract}, not the pinned ${target}`,
    );
  });
});

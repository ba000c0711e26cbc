import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { runCli } from "../../../src/app/cli.ts";
import { parseUnits } from "../../../src/domain/money/amount.ts";
import { makeFolder } from "../../e2e/support/swapd.ts";
import { ACCOUNT, type Life } from "../../support/engine-life.ts";
import { readDryExample } from "../../support/example-file.ts";
import { live } from "../../support/old-runs.ts";

let file: string;
let life: Life;
beforeEach(async () => {
  ({ life } = await live({ gasless: "never" }, undefined, { seconds: 160 }));
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  for (const name of ["RPC_1", "RPC_2"]) vi.stubEnv(name, "http://127.0.0.1:1");
  onTestFinished(() => void vi.unstubAllEnvs());
  file = join(folder.path, "config/mine.yaml");
  const own = `main: { address: "${ACCOUNT}",`;
  writeFileSync(file, readDryExample(folder.path).replace("main: {", own).replace("/data/swapd.db", life.file));
});

async function swapd(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = {
    out: (text: string) => void out.push(text),
    err: (text: string) => void err.push(text),
    isInteractive: false,
  };
  const code = await runCli(["node", "swapd", ...words, "--config", file], terminal);
  return { code, out: out.join("\n"), err: err.join("\n") };
}

interface Money {
  readonly asset: string;
  readonly contract: string;
  readonly amount: string;
  readonly costUsd: string | null;
}

interface Document {
  readonly lots: readonly Money[];
  readonly holdings: readonly (Money & { readonly unrealisedUsd: string | null })[];
  readonly disposals: readonly (Money & { readonly resultUsd: string | null; readonly order: number | null })[];
  readonly orders: readonly { readonly wallet: string; readonly pick: string }[];
}

const documentOf = async (...words: string[]): Promise<Document> =>
  JSON.parse((await swapd("lots", "--json", ...words)).out) as Document;

it("lots of a life add up to what was bought, and what it sold from before cost nobody knows what", async () => {
  const { lots, disposals, holdings } = await documentOf();
  const bought = life.db.prepare<[], string>("SELECT bought FROM swaps WHERE state = 'final'").pluck().all();
  const contract = life.db
    .prepare<[], string>("SELECT DISTINCT buy_token FROM swaps WHERE state = 'final'")
    .pluck()
    .get();
  const decimals = life.db.prepare<[], number>("SELECT DISTINCT buy_decimals FROM swaps").pluck().get() ?? 0;
  const ours = lots.filter((lot) => lot.contract === contract && lot.costUsd !== null);
  expect(ours.map(({ amount }) => parseUnits(amount, decimals))).toEqual(bought.map(BigInt));
  expect(holdings.find((held) => held.contract === contract)?.unrealisedUsd).toEqual(expect.any(String));
  expect(disposals.length).toBeGreaterThan(bought.length);
  expect(disposals.every(({ costUsd, resultUsd }) => costUsd === null && resultUsd === null)).toBe(true);
  const { out } = await swapd("lots");
  expect(out).toContain("the oldest lot of the wallet first (FIFO)");
  expect(out).toContain("not known");
  expect(out).toContain("No tax advice");
  expect((await swapd("lots", "--help")).code).toBe(0);
});

it("a standing order is written down without a daemon, and stands in the lots of the method that follows it", async () => {
  const ordered = await swapd("lots", "order", "--wallet", "main", "--pick", "lowest-cost");
  expect([ordered.code, ordered.out]).toEqual([
    0,
    expect.stringContaining("no daemon runs, so this command wrote it down"),
  ]);
  expect((await documentOf("--method", "specific")).orders).toMatchObject([{ wallet: "main", pick: "lowest-cost" }]);
  expect((await swapd("lots", "--method", "specific")).out).toMatch(/order 1: main sells lowest cost first, since 20/);
  expect((await swapd("lots", "order", "--wallet", "mian", "--pick", "oldest")).err).toContain(
    'no wallet "mian"; there are: main',
  );
  expect((await swapd("lots", "--method", "best")).code).toBe(2);
});

it("opening lots give what was held a cost, and the results with it", async () => {
  const opening = `${file}.lots.csv`;
  const [first] = (await documentOf()).lots.filter(({ costUsd }) => costUsd === null);
  writeFileSync(
    opening,
    `wallet,asset,amount,acquired,cost_usd\nmain,${first?.contract},${first?.amount},2020-01-01,10\n`,
  );
  const { lots, disposals } = await documentOf("--opening", opening);
  const known = [...lots, ...disposals].filter(
    ({ contract, costUsd }) => contract === first?.contract && costUsd !== null,
  );
  const cost = known.reduce((sum, { costUsd }) => sum + BigInt(parseUnits(costUsd ?? "", 18)), 0n);
  expect([known.length > 0, cost]).toEqual([true, 10n * 10n ** 18n]);
});

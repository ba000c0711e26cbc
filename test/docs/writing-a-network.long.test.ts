import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { writeWallet } from "../support/wallet-files.ts";
import { WIDE_POLICY } from "../support/wide-policy.ts";
import { compile, problemsOf } from "./support/compile-example.ts";
import { start } from "./support/desk-trade.ts";
import { run, workedExample } from "./support/worked-example.ts";

const { blocks, build, page } = workedExample("docs/WRITING-A-NETWORK.md", ["vitest.config.ts"]);
const BIOME = "node_modules/@biomejs/biome/bin/biome";

/** A compiler, or a chain, alongside other tests on two cores. */
const LONG = { timeout: 120_000 };

test("the example has the project's types and format, and a changed interface is noticed here first", LONG, () => {
  const folder = build();
  const code = blocks.map(({ path }) => path).filter((path) => path.endsWith(".ts"));
  const biome = run(folder, BIOME, "ci", "--colors=off", "--vcs-enabled=false", ...code);
  expect(biome, biome.output).toMatchObject({ status: 0 });
  const program = compile(folder, code);
  expect(problemsOf(program)).toEqual([]);
  expect(run(folder, "src/main.ts", "schema", "swapd").output).toContain("bsc, devnet, ethereum");

  const file = join(folder, "src/networks/network.ts");
  writeFileSync(file, readFileSync(file, "utf8").replace("  readonly wrapped:", "  readonly wrappedCoin:"));
  expect(problemsOf(compile(folder, code, program)).join("\n")).toMatch(/devnet.ts: .*'wrapped' does not/);
});

test("the example's network passes the tests that the networks of the book pass", LONG, () => {
  const folder = build();
  const own = [...page.matchAll(/^\| `(test\/[\w./-]+\.test\.ts)` \| (?!one line)/gm)].map(([, path]) => path ?? "");
  expect(own).toHaveLength(4);
  const vitest = run(folder, "node_modules/vitest/vitest.mjs", "run", "--reporter=verbose", ...own);
  expect(vitest, vitest.output).toMatchObject({ status: 0 });
  expect(vitest.output).toMatch(/Test Files.*4 passed/);
  expect(vitest.output).toMatch(/devnet > has addresses with right checksums/);
  expect(vitest.output).toMatch(/the built-in network devnet > serves the daemon/);
  expect(vitest.output).toMatch(/a first configuration for devnet > is taken by swapd check/);
});

const STRATEGY = 'kind: dca\nwallet: main\nsell: "10 USDC"\nbuy: WETH\nschedule: { every: 6h }\n';

const plan = z.object({
  slots: z.array(z.object({ decision: z.string(), swaps: z.array(z.unknown()) })),
});

async function openChain(): Promise<Sandbox> {
  const chain = { port: 0, blockTimeSeconds: 0.3, seed: 1, market: false };
  const sandbox = await startSandbox({ directory: temporaryDirectory(), ...chain });
  onTestFinished(() => sandbox.stop());
  return sandbox;
}

describe("on its chain", () => {
  test.each([
    ["the example's network", (main: string, settlement: string) => booked(main, settlement)],
    ["a chain of one's own", (main: string) => main],
  ])("%s is in order for swapd check, and swapd plan quotes its next slots", LONG, async (_name, written) => {
    const { world } = await openChain();
    const folder = build();
    writeFileSync(join(folder, "policy.yaml"), WIDE_POLICY);
    mkdirSync(join(folder, "strategies"));
    writeFileSync(join(folder, "strategies/hold.yaml"), STRATEGY);
    writeWallet(folder, world.wallet.privateKey);
    const main = readFileSync(join(folder, "swapd.yaml"), "utf8");
    writeFileSync(join(folder, "swapd.yaml"), written(main, world.settlement));
    // What the page names is what stands on this chain.
    expect(readFileSync(join(folder, "mychain.yaml"), "utf8").toLowerCase()).toContain(world.settlement);

    const swapd = (...args: string[]) =>
      start([join(folder, "src/main.ts"), ...args], { cwd: folder, env: { RPC_1: world.rpcUrl } }).ended;
    const checked = await swapd("check", "swapd.yaml");
    expect(checked, checked.out).toMatchObject({ code: 0, out: expect.stringContaining("token USDC") });
    expect(checked.out).not.toContain("PROBLEM");
    const planned = await swapd("plan", "--config", "swapd.yaml", "--json", "--slots", "2");
    expect(planned, planned.out).toMatchObject({ code: 0 });
    const { slots } = plan.parse(JSON.parse(planned.out));
    expect(slots.map(({ decision, swaps }) => [decision, swaps.length])).toEqual([
      ["swap", 1],
      ["swap", 1],
    ]);
  });
});

function booked(main: string, settlement: string): string {
  const network = "network: { name: devnet, rpc: [{ env: RPC_1 }] }";
  return main.replace(/^network: .*$/m, `${network}\nservice: { settlement: "${settlement}" }`);
}

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { check } from "../../src/app/commands/check.ts";
import { init } from "../../src/app/commands/init.ts";
import { plan } from "../../src/app/commands/plan.ts";
import { CommandFailure } from "../../src/app/exit-codes.ts";
import { NETWORKS } from "../../src/networks/book.ts";
import { isThereCommand } from "../docs/support/commands.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { writeWallet } from "../support/wallet-files.ts";

const SETTLEMENT = `0x${"a1".repeat(20)}`;
const TRADED = [...NETWORKS].filter(([, { noSettlement }]) => noSettlement === undefined);

/** A terminal that keeps what it is told. */
function reported() {
  const lines: string[] = [];
  const write = (text: string): void => void lines.push(text);
  return { lines, terminal: { out: write, err: write, isInteractive: false } as never };
}

async function checked(folder: string): Promise<{ ok: boolean; problems: { message: string }[] }> {
  const { lines, terminal } = reported();
  try {
    await check(join(folder, "swapd.yaml"), { json: true, offline: true }, terminal);
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
  }
  return JSON.parse(lines.join(""));
}

const QUIETLY = { yes: true, offline: true, timezone: "Europe/Berlin", wallet: "keystore wallet.json" } as const;

/** What `swapd init` writes for a network, whose wallet is there. */
async function begun(network: string): Promise<string> {
  const folder = temporaryDirectory();
  writeWallet(folder);
  await init({ ...QUIETLY, dir: folder, network }, reported().terminal);
  return folder;
}

/** The same for any network, written by hand where `swapd init` writes none. */
async function written(network: string): Promise<string> {
  if (TRADED.some(([name]) => name === network)) return await begun(network);
  const folder = await begun("base");
  const file = join(folder, "swapd.yaml");
  const own = readFileSync(file, "utf8")
    .replace("name: base", `name: ${network}`)
    .replace("mode: paper", "mode: dry-run");
  writeFileSync(file, own);
  return folder;
}

describe.each(TRADED)("a first configuration for %s", (network, { nativeSymbol, first, tokens }) => {
  test("is written by swapd init on paper, with the network's own gas", async () => {
    const folder = await begun(network);
    const policy = readFileSync(join(folder, "policy.yaml"), "utf8");
    expect(policy).toContain(`gas_reserve: "${first.gasReserve} ${nativeSymbol}"`);
    expect(policy).toContain(`max_gas_price: ${first.maxGasPrice} `);
    expect(readFileSync(join(folder, "swapd.yaml"), "utf8")).toContain("mode: paper ");
  });

  test("may sell each of its priced tokens for another one", async () => {
    const priced = [...tokens].filter(([, { feed }]) => feed !== undefined).map(([symbol]) => symbol);
    expect(priced.length).toBeGreaterThan(1);
    for (const [index, sell] of priced.entries()) {
      const folder = temporaryDirectory();
      writeWallet(folder);
      const buy = priced[(index + 1) % priced.length] ?? "";
      await init({ ...QUIETLY, dir: folder, network, sell: `1 ${sell}`, buy }, reported().terminal);
      expect(await checked(folder), `${sell} for ${buy}`).toMatchObject({ ok: true, problems: [] });
    }
  });
});

describe.each([...NETWORKS])("a configuration for %s", (network, { noSettlement }) => {
  test("is taken by swapd check", async () => {
    expect(await checked(await written(network))).toMatchObject({ ok: true, problems: [] });
  });

  test("is taken live with a settlement contract, and refused where none can be", async () => {
    const folder = await written(network);
    const file = join(folder, "swapd.yaml");
    const live = readFileSync(file, "utf8")
      .replace(/mode: (?:paper|dry-run)/, "mode: live")
      .replace("url: embedded", `url: embedded, settlement: "${SETTLEMENT}"`);
    writeFileSync(file, live);
    const outcome = await checked(folder);
    expect(outcome.ok, JSON.stringify(outcome.problems)).toBe(noSettlement === undefined);
    if (noSettlement !== undefined) expect(JSON.stringify(outcome.problems)).toContain(noSettlement);
  });
});

test("where nothing can be traded, init writes nothing, and names what serves its quotes", async () => {
  const folder = join(temporaryDirectory(), "new");
  const refused = init({ ...QUIETLY, wallet: "new", dir: folder, network: "zksync" }, reported().terminal);
  await expect(refused).rejects.toThrow(
    /zksync is unsupported by the settlement contracts: .*; for quotes alone: swapd serve --network zksync --rpc env:RPC/,
  );
  expect(existsSync(folder)).toBe(false);
  expect(await isThereCommand("swapd serve --network zksync --rpc env:RPC")).toBe(true);
});

test("plan of a file for such a network says the same, and advises no contract", async () => {
  const config = join(await written("zksync"), "swapd.yaml");
  const planned = plan({ config, slots: 1 }, reported().terminal);
  await expect(planned).rejects.toThrow(/^zksync is unsupported by .*; for quotes alone: swapd serve --network zksync/);
});

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { check } from "../../src/app/commands/check.ts";
import { init } from "../../src/app/commands/init.ts";
import { CommandFailure } from "../../src/app/exit-codes.ts";
import { NETWORKS } from "../../src/networks/book.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { writeWallet } from "../support/wallet-files.ts";

const SETTLEMENT = `0x${"a1".repeat(20)}`;

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

describe.each([...NETWORKS])(
  "a first configuration for %s",
  (network, { nativeSymbol, first, noSettlement, router, tokens }) => {
    test("is taken by swapd check as swapd init writes it, with the network's own gas", async () => {
      const folder = await begun(network);
      expect(await checked(folder)).toMatchObject({ ok: true, problems: [] });
      const policy = readFileSync(join(folder, "policy.yaml"), "utf8");
      expect(policy).toContain(`gas_reserve: "${first.gasReserve} ${nativeSymbol}"`);
      expect(policy).toContain(`max_gas_price: ${first.maxGasPrice} `);
      const mode = router === undefined ? "dry-run" : "paper";
      expect(readFileSync(join(folder, "swapd.yaml"), "utf8")).toContain(`mode: ${mode} `);
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

    test("is taken live with a settlement contract, and refused where none can be", async () => {
      const folder = await begun(network);
      const file = join(folder, "swapd.yaml");
      const live = readFileSync(file, "utf8")
        .replace(/mode: (?:paper|dry-run)/, "mode: live")
        .replace("url: embedded", `url: embedded, settlement: "${SETTLEMENT}"`);
      writeFileSync(file, live);
      const outcome = await checked(folder);
      expect(outcome.ok, JSON.stringify(outcome.problems)).toBe(noSettlement === undefined);
      if (noSettlement !== undefined) expect(JSON.stringify(outcome.problems)).toContain(noSettlement);
    });
  },
);

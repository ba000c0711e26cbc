import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { BUNDLED_LAUNCHER } from "./support/bundled-launcher.ts";
import { runHere } from "./support/run-here.ts";
import { run } from "./support/swapd.ts";

const LAUNCHER = process.env[BUNDLED_LAUNCHER] ?? join(import.meta.dirname, "../../bin/swapd.js");

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "swapd-init-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe("swapd init", () => {
  it("writes a configuration that swapd check finds in order, and changes nothing of it unasked", async () => {
    const folder = freshFolder();
    const flags = ["--yes", "--offline", "--wallet", "new", "--sell", "25 DAI", "--buy", "WETH"];
    const made = await run(folder, ["init", ...flags, "--timezone", "Europe/Berlin"]);
    expect(made, made.err).toMatchObject({ code: 0 });
    expect(made.out).toMatch(/0x[0-9a-fA-F]{40}/);
    expect(statSync(join(folder, "wallet.json")).mode & 0o077).toBe(0);
    expect(statSync(join(folder, "wallet.pass")).mode & 0o077).toBe(0);
    const [marker = ""] = readdirSync(join(folder, "identity"));
    expect(JSON.parse(readFileSync(join(folder, "identity", marker), "utf8"))).toMatchObject({
      version: 1,
      chainId: 8453,
    });
    expect(readFileSync(join(folder, "strategies", "buy-weth.yaml"), "utf8")).toContain('sell: "25 DAI"');
    expect(readFileSync(join(folder, "swapd.yaml"), "utf8")).toContain("mode: paper");
    const checked = await runHere(folder, ["check", "--offline"]);
    expect(checked, checked.out).toMatchObject({ code: 0, out: expect.stringContaining("buy-weth") });
    const before = readFileSync(join(folder, "swapd.yaml"), "utf8");
    const again = await runHere(folder, ["init", "--yes", "--offline"]);
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("nothing was changed") });
    expect(readFileSync(join(folder, "swapd.yaml"), "utf8")).toBe(before);
  });

  it("takes its answers from standard input, line by line, and says where they ended", async () => {
    const folder = freshFolder();
    const typed = (text: string) =>
      spawnSync(process.execPath, [LAUNCHER, "init", "--offline"], {
        cwd: folder,
        input: text,
        encoding: "utf8",
        env: { ...process.env, SWAPD_CONFIG: "" },
      });
    const few = typed("base\n\nten dollars\n");
    expect(few.status).toBe(2);
    expect(few.stderr).toContain("nothing was written");
    expect(readdirSync(folder)).toEqual([]);
    const all = typed("base\n\n10 USDC\nWETH\nevery 6h\n\n60 USD\n\n0x70997970C51812dc3A010C7d01b50e0d17dc79C8\n");
    expect(all.status, all.stderr).toBe(0);
    expect(readFileSync(join(folder, "strategies", "buy-weth.yaml"), "utf8")).toContain("schedule: { every: 6h }");
  });

  it("asks the endpoint, and says that its variable is not set", async () => {
    const ended = await run(freshFolder(), ["init", "--yes", "--wallet", "new"], { RPC_1: "" });
    expect(ended).toMatchObject({ code: 2, err: expect.stringMatching(/--rpc: .*the environment variable RPC_1 is/) });
  });
});

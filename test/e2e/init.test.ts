import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { run } from "./support/swapd.ts";

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "swapd-init-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe("swapd init", () => {
  it("writes a configuration that swapd check finds in order, and never writes over one", async () => {
    const folder = freshFolder();
    const flags = ["--yes", "--new-wallet", "--sell", "25 DAI", "--buy", "WETH", "--timezone", "Europe/Berlin"];
    const made = await run(folder, ["init", ...flags]);
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
    expect(readFileSync(join(folder, "swapd.yaml"), "utf8")).toContain("mode: dry-run");
    const checked = await run(folder, ["check", "--offline"]);
    expect(checked, checked.out).toMatchObject({ code: 0, out: expect.stringContaining("buy-weth") });
    const online = await run(folder, ["check", "--json"], { SWAPD_RPC_URL: "" });
    expect(online.code).toBe(1);
    expect(JSON.parse(online.out)).toMatchObject({ ok: false, chain: [{ what: "chain", found: /SWAPD_RPC_URL/ }] });
    const before = readFileSync(join(folder, "swapd.yaml"), "utf8");
    const again = await run(folder, ["init", "--yes", "--sell", "1 USDC"]);
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining("exist in") });
    expect(readFileSync(join(folder, "swapd.yaml"), "utf8")).toBe(before);
  });

  it("writes nothing that would be refused, and says where and why", async () => {
    const folder = freshFolder();
    const ended = await run(folder, ["init", "--yes", "--new-wallet", "--sell", "5 XYZ", "--at", "25:00"]);
    expect(ended.code).toBe(1);
    expect(ended.err).toContain('strategies/buy-weth.yaml:4:7: sell: the token "XYZ" is not known');
    expect(ended.err).toContain('"25:00" is no time of day');
    expect(readdirSync(folder).sort()).toEqual(["wallet.json", "wallet.pass"]);
  });

  it("makes no wallet that nobody asked for, and knows only built-in networks", async () => {
    const folder = freshFolder();
    expect(await run(folder, ["init", "--yes"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("--new-wallet"),
    });
    expect(await run(folder, ["init", "--yes", "--network", "bass"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("there are arbitrum, avalanche, base"),
    });
    expect(existsSync(join(folder, "swapd.yaml"))).toBe(false);
  });
});

import { execFileSync } from "node:child_process";
import { cpSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { run } from "../e2e/support/swapd.ts";
import { linkProductionPackages } from "../support/installed-tree.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The program as the image has it: neither development nor optional packages. */
function installed(): { path: string; launcher: string } {
  const path = temporaryDirectory();
  for (const part of ["bin", "src", "config", "strategies", "contracts/artifacts", "package.json"]) {
    cpSync(join(ROOT, part), join(path, part), { recursive: true });
  }
  linkProductionPackages(path);
  return { path, launcher: join(path, "bin/swapd.js") };
}

it("swapd sandbox says at once which packages it lacks and how to get them, and ends with 78", async () => {
  const { path, launcher } = installed();
  const ended = await run(path, ["sandbox", "--port", "0", "--for", "1s"], { PATH: "/nowhere" }, launcher);
  expect(ended.code).toBe(78);
  expect(ended.err).toContain("@uniswap/v2-core and @uniswap/v3-core, which are not installed");
  const { devDependencies, optionalDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const pinned = (name: string) => `${name}@${{ ...devDependencies, ...optionalDependencies }[name]}`;
  expect(ended.err).toContain(`npm install ${pinned("@uniswap/v2-core")} ${pinned("@uniswap/v3-core")}`);
  // On another machine npm has no binary to install.
  const isPackaged = `${process.platform} ${process.arch}` === "linux x64";
  const anvil = isPackaged ? `npm install ${pinned("@foundry-rs/anvil-linux-amd64")}` : "carries no binary";
  expect(ended.err).toContain(anvil);
  expect(ended.err).not.toContain("Error:");
});

it("every command loads without them", () => {
  const { path } = installed();
  const commands = globSync("src/app/commands/*.ts", { cwd: path });
  expect(commands.length).toBeGreaterThan(20);
  const loading = commands.map((file) => `await import(${JSON.stringify(join(path, file))});`).join("\n");
  execFileSync(process.execPath, ["--input-type=module", "--eval", loading], { cwd: path, stdio: "pipe" });
});

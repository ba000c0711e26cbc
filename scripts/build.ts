import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Compiles `src/` to `dist/` for the image: types are checked and taken out, and what is no TypeScript (migrations) is
 * copied to the same place, where the compiled code looks for it.
 */
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const from = join(root, "src");
const to = join(root, "dist");

rmSync(to, { recursive: true, force: true });
const compiler = join(root, "node_modules/typescript/bin/tsc");
const compiled = spawnSync(process.execPath, [compiler, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
if (compiled.status !== 0) {
  rmSync(to, { recursive: true, force: true });
  throw new Error("src does not compile: see the messages above; dist was not made");
}
const assets = readdirSync(from, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.name.endsWith(".ts"))
  .map((entry) => join(entry.parentPath, entry.name).slice(from.length + 1));
for (const asset of assets) cpSync(join(from, asset), join(to, asset));
console.log(`dist is built; copied as they are: ${assets.sort().join(", ")}`);

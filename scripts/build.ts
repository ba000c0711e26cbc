import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.ts";

/**
 * Makes `dist/` of `src/`, for the image and the package: types are checked and taken out, and all modules with those of
 * packages become a few files. What is no TypeScript (migrations) is copied to the same place.
 */
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const from = join(root, "src");
const to = join(root, "dist");

rmSync(to, { recursive: true, force: true });
const compiler = join(root, "node_modules/typescript/bin/tsc");
const checked = spawnSync(process.execPath, [compiler, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
if (checked.status !== 0) throw new Error("src does not compile: see the messages above; dist was not made");
const modules = await bundle(to, (file) => {
  const place = `./${relative(from, file).replace(/\.ts$/, ".js")}`;
  return `new URL(${JSON.stringify(place)}, import.meta.url).href`;
});
try {
  assertShippable(modules);
} catch (error) {
  rmSync(to, { recursive: true, force: true });
  throw error;
}
const assets = readdirSync(from, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.name.endsWith(".ts"))
  .map((entry) => join(entry.parentPath, entry.name).slice(from.length + 1));
for (const asset of assets) cpSync(join(from, asset), join(to, asset));
console.log(`dist is built; copied as they are: ${assets.sort().join(", ")}`);

/** What is for development alone may not be passed on under our licence. */
function assertShippable(modules: readonly string[]): void {
  const lock: { packages: Record<string, { dev?: boolean }> } = JSON.parse(
    readFileSync(join(root, "package-lock.json"), "utf8"),
  );
  const parts = new Set(modules.flatMap((id) => packageOf(id) ?? []));
  const wrong = [...parts].filter((name) => lock.packages[name]?.dev !== undefined);
  if (parts.size === 0) throw new Error("no package is part of dist: the build does not say what it is made of");
  if (wrong.length > 0) throw new Error(`dist has parts that are for development alone: ${wrong.join(", ")}`);
  console.log(`${parts.size} packages are part of dist`);
}

/** Its folder in the lock file's words; undefined for what is no package. */
function packageOf(id: string): string | undefined {
  return /(node_modules\/.*node_modules\/|node_modules\/)(@[^/]+\/)?[^/]+/.exec(id)?.[0];
}

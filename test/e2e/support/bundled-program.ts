import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundle } from "../../../scripts/bundle.ts";
import { BUNDLED_LAUNCHER } from "./bundled-launcher.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const KEPT = join(ROOT, "node_modules/.cache/swapd-bundled");

const DAY_MS = 86_400_000;

/** Of all that the bundle is made from: another source is another bundle. */
function nameOfSource(): string {
  const hash = createHash("sha256");
  const files = [...globSync("{src,bin}/**/*.{ts,js}", { cwd: ROOT }), "package-lock.json", "package.json"].sort();
  for (const file of [...files, "scripts/bundle.ts", "test/e2e/support/bundled-program.ts"]) {
    hash.update(file).update(readFileSync(join(ROOT, file)));
  }
  return hash.digest("hex").slice(0, 16);
}

/** Others may be running tests of another source at this moment. */
function forgetOld(): void {
  for (const name of readdirSync(KEPT)) {
    const place = join(KEPT, name);
    if (Date.now() - statSync(place).mtimeMs > DAY_MS) rmSync(place, { recursive: true, force: true });
  }
}

/**
 * Tests start `swapd` hundreds of times, and most of a start is the loading of a thousand files. Here the same source is
 * put into a few, once, as a package with its launcher.
 */
export default async function bundleProgram(): Promise<void> {
  // A copy of the project that shall only run some tests may have no launcher.
  if (!existsSync(join(ROOT, "bin/swapd.js"))) return;
  const name = nameOfSource();
  const folder = join(KEPT, name);
  process.env[BUNDLED_LAUNCHER] = join(folder, "bin/swapd.js");
  if (existsSync(folder)) return;
  const made = `${folder}.${process.pid}`;
  // A file that is read from its own place is read from there by the bundled code as well.
  await bundle(join(made, "dist"), (file) => JSON.stringify(pathToFileURL(file).href));
  mkdirSync(join(made, "bin"));
  cpSync(join(ROOT, "bin/swapd.js"), join(made, "bin/swapd.js"));
  cpSync(join(ROOT, "package.json"), join(made, "package.json"));
  forgetOld();
  try {
    renameSync(made, folder);
  } catch (error) {
    // Another run of the tests was faster.
    rmSync(made, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

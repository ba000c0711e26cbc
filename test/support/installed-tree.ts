import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { productionPackages } from "../../scripts/release/packages.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Lays out the packages that `npm ci --omit=dev --omit=optional` installs, as links to those of this repository. */
export function linkProductionPackages(directory: string): void {
  for (const { folder, isOptional } of productionPackages(readFileSync(join(ROOT, "package-lock.json"), "utf8"))) {
    // What lies inside another package comes with it.
    if (isOptional || folder.lastIndexOf("node_modules/") > 0) continue;
    mkdirSync(dirname(join(directory, folder)), { recursive: true });
    symlinkSync(join(ROOT, folder), join(directory, folder));
  }
}

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The top folder of the repository, with a closing slash. */
export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Folders that are made by tools and never committed. */
const GENERATED = new Set([
  "node_modules",
  ".git",
  "dist",
  "release",
  ".swapd",
  "coverage",
  "contracts/out",
  "contracts/cache",
]);

/** Every file below a folder, relative to the top folder, sorted; without what tools make. */
export function filesBelow(folder: string): readonly string[] {
  const found: string[] = [];
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const entry of readdirSync(join(ROOT, next), { withFileTypes: true })) {
      const path = next === "" ? entry.name : `${next}/${entry.name}`;
      if (GENERATED.has(path)) continue;
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.isFile()) found.push(path);
    }
  }
  return found.sort();
}

/** TypeScript files below a folder. */
export function typescriptBelow(folder: string): readonly string[] {
  return filesBelow(folder).filter((path) => path.endsWith(".ts"));
}

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

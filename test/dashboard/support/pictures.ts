import { hash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Where the committed pictures are, and which: one screen each, three widths, both themes. */
export const PICTURES_FOLDER = join(ROOT, "docs/pictures");
export const PICTURES: readonly string[] = ["overview-desk-light", "strategy-tablet-dark", "overview-phone-dark"];

const NOTE = join(PICTURES_FOLDER, "made-of.json");
const BUILT = "dashboard/built";
const SCRIPT = "test/dashboard/pictures-main.ts";

function hashOf(path: string): string {
  return hash("sha256", readFileSync(join(ROOT, path)));
}

/** Hashes of all that a picture depends on and of the pictures, by path. */
export function whatOfNow(): Readonly<Record<string, string>> {
  const page = readdirSync(join(ROOT, BUILT)).map((name) => `${BUILT}/${name}`);
  const pictures = PICTURES.map((name) => `docs/pictures/${name}.jpg`);
  return Object.fromEntries([...page, SCRIPT, ...pictures].sort().map((path) => [path, hashOf(path)]));
}

/** The same as it was when the pictures were made. */
export function whatOfThen(): unknown {
  return JSON.parse(readFileSync(NOTE, "utf8"));
}

/** Writes down what the pictures were made of. */
export function noteWhatOf(): void {
  writeFileSync(NOTE, `${JSON.stringify(whatOfNow(), undefined, 2)}\n`);
}

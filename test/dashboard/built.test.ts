import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../dashboard/", import.meta.url));
const BUILT = join(ROOT, "built");
const MOST_BYTES = 60_000;

it("keeps the built page current with its source: `npm run page` makes it", () => {
  const folder = mkdtempSync(join(tmpdir(), "swapd-page-"));
  try {
    const vite = join(ROOT, "../node_modules/vite/bin/vite.js");
    const words = [vite, "build", "--config", join(ROOT, "vite.config.ts"), "--outDir", folder, "--emptyOutDir"];
    // As a person's shell has it: in a test's environment another build is made.
    const env = { ...process.env, NODE_ENV: undefined, VITEST: undefined };
    const { status, stderr } = spawnSync(process.execPath, words, { env, encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(readdirSync(folder).sort()).toEqual(readdirSync(BUILT).sort());
    for (const name of readdirSync(folder)) {
      const isSame = readFileSync(join(folder, name)).equals(readFileSync(join(BUILT, name)));
      expect({ name, isSame }).toEqual({ name, isSame: true });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it(`weighs less than ${MOST_BYTES / 1_000} kB in all, packed as it is sent`, () => {
  const names = readdirSync(BUILT);
  expect(names.sort()).toEqual(["index.html", "page.css", "page.js"]);
  const bytes = names.map((name) => gzipSync(readFileSync(join(BUILT, name)), { level: 9 }).length);
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(MOST_BYTES);
});

it("asks no other host for anything, and holds no way past Trusted Types", () => {
  const texts = readdirSync(BUILT).map((name) => readFileSync(join(BUILT, name), "utf8"));
  const addresses = texts.flatMap((text) => text.match(/https?:\/\/[^"'`\s)]*/g) ?? []);
  // names of XML kinds, which nobody fetches
  expect(addresses.filter((address) => !address.startsWith("http://www.w3.org/"))).toEqual([]);
  for (const text of texts) expect(text).not.toMatch(/\beval\(|new Function\(|document\.write|createPolicy/);
});

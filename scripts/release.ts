import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { dated } from "./release/changelog.ts";
import { run } from "./release/command.ts";
import { refusals } from "./release/refusals.ts";
import { NOTICES_FILE, stagePackage } from "./release/stage.ts";

/**
 * Makes the files of a release: `release.ts <version> [--to <folder>]`. Writes version and day into package.json,
 * package-lock.json and CHANGELOG.md; commits, tags and pushes nothing. Ends with 1 and all reasons when the tree is not
 * ready, with 2 when it is called wrongly.
 */
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const USAGE = "usage: npm run release -- <version> [--to <folder>], for example npm run release -- 0.2.0";

interface Release {
  readonly version: string;
  /** when it is made, in the form 2026-01-31 */
  readonly day: string;
  /** where its files go */
  readonly folder: string;
}

function readArguments(): Release | undefined {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { to: { type: "string" } } });
  const [version, ...more] = positionals;
  if (version === undefined || more.length > 0 || !/^\d+\.\d+\.\d+$/.test(version)) return undefined;
  const day = new Date().toISOString().slice(0, "2026-01-01".length);
  return { version, day, folder: resolve(values.to ?? join(ROOT, "release", version)) };
}

function folderRefusals(folder: string): readonly string[] {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return [];
  return [`${folder} is not empty: remove it, or name another folder with --to.`];
}

function writeVersion({ version, day }: Release): void {
  run("npm", ["version", version, "--no-git-tag-version", "--allow-same-version", "--ignore-scripts"], ROOT);
  const changelog = join(ROOT, "CHANGELOG.md");
  writeFileSync(changelog, dated(readFileSync(changelog, "utf8"), version, day));
}

/** Packs what was laid out, and lists what it installs; the sums are what `sha256sum --check` reads. */
function makeFiles(staging: string, { version, folder }: Release): void {
  mkdirSync(folder, { recursive: true });
  run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], staging);
  const sbom = ["sbom", "--package-lock-only", "--sbom-format=cyclonedx", "--sbom-type=application", "--offline"];
  writeFileSync(join(folder, `swapd-${version}.sbom.json`), run("npm", sbom, staging));
  cpSync(join(staging, NOTICES_FILE), join(folder, NOTICES_FILE));
  const sums = readdirSync(folder)
    .sort()
    .map(
      (name) =>
        `${createHash("sha256")
          .update(readFileSync(join(folder, name)))
          .digest("hex")}  ${name}\n`,
    );
  writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
}

function report({ version, folder }: Release): void {
  const isChanged = run("git", ["status", "--porcelain"], ROOT) !== "";
  console.log(`swapd ${version} is in ${folder}:`);
  for (const name of readdirSync(folder).sort()) console.log(`  ${name}`);
  console.log("\nNothing was committed, tagged or pushed. Next, once .ci/run is green:");
  if (isChanged) console.log(`  git commit --all --message "Release ${version}"`);
  console.log(`  git tag --annotate v${version} --message "swapd ${version}"`);
  console.log(`  git push origin HEAD v${version}`);
  console.log(`  docker build --tag swapd:${version} .`);
}

function release(wanted: Release): void {
  writeVersion(wanted);
  run(process.execPath, [join(ROOT, "scripts/build.ts")], ROOT);
  const place = mkdtempSync(join(tmpdir(), "swapd-release-"));
  try {
    // The list of parts calls the program by the name of its folder.
    const staging = join(place, "swapd");
    mkdirSync(staging);
    stagePackage(ROOT, staging);
    makeFiles(staging, wanted);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
  report(wanted);
}

const wanted = readArguments();
if (wanted === undefined) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  const reasons = [...refusals(ROOT, wanted), ...folderRefusals(wanted.folder)];
  if (reasons.length === 0) release(wanted);
  else {
    console.error(`No release of ${wanted.version}:\n${reasons.map((reason) => `- ${reason}`).join("\n")}`);
    process.exitCode = 1;
  }
}

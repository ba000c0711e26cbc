import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { run } from "../../scripts/release/command.ts";
import { productionPackages } from "../../scripts/release/packages.ts";
import { run as runSwapd } from "../e2e/support/swapd.ts";
import { ROOT } from "../style/support/repository.ts";
import { linkProductionPackages } from "../support/installed-tree.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const VERSION = "99.0.0";
const FILES = ["SHA256SUMS", "THIRD-PARTY-NOTICES", `swapd-${VERSION}.sbom.json`, `swapd-${VERSION}.tgz`];

/** A clean repository of this tree as it lies here, whose changelog is ready for the version. */
function readyTree(): string {
  const root = temporaryDirectory();
  const files = run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT).split("\0");
  for (const file of files.filter((name) => name !== "")) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    cpSync(join(ROOT, file), join(root, file));
  }
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  const section = `## ${VERSION} - unreleased\n\n### Added\n\n- A door.\n\n## `;
  writeFileSync(join(root, "CHANGELOG.md"), changelog.replace("## ", section));
  const examples = join(root, "strategies/examples");
  for (const name of readdirSync(examples)) postpone(join(examples, name));
  run("git", ["init", "--quiet"], root);
  // The link is no folder, which .gitignore names.
  appendFileSync(join(root, ".git/info/exclude"), "node_modules\n");
  commit(root);
  return root;
}

/** A tree whose examples name days that are over makes no release, and this one goes on being tested when they are. */
function postpone(file: string): void {
  const text = readFileSync(file, "utf8");
  writeFileSync(
    file,
    text.replace(/\d{4}(?=-\d\d-\d\d)/g, (year) => `${Number(year) + 100}`),
  );
}

function commit(root: string): void {
  const somebody = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"];
  run("git", ["add", "--all"], root);
  run("git", [...somebody, "commit", "--quiet", "--message", "Begin"], root);
}

function release(root: string, folder: string) {
  const script = join(root, "scripts/release.ts");
  return spawnSync(process.execPath, [script, VERSION, "--to", folder], { cwd: root, encoding: "utf8" });
}

function unpacked(folder: string): string {
  const place = temporaryDirectory();
  run("tar", ["-xzf", join(folder, `swapd-${VERSION}.tgz`), "-C", place], place);
  return join(place, "package");
}

it("a release makes a package that runs, its parts list, its notices and their sums, and pushes nothing", async () => {
  const root = readyTree();
  const folder = join(temporaryDirectory(), "files");
  const before = run("git", ["log", "--format=%H"], root);
  const made = release(root, folder);
  expect(made).toMatchObject({ status: 0, stderr: "" });
  expect(made.stdout).toContain(`git tag --annotate v${VERSION}`);
  expect(readdirSync(folder).sort()).toEqual(FILES);
  expect(run("git", ["log", "--format=%H"], root)).toBe(before);
  expect(run("git", ["tag"], root)).toBe("");
  expectVersionWritten(root);
  expectSums(folder);
  expectPartsListed(folder);
  await expectBeginsInAnEmptyFolder(unpacked(folder));
  await expectRuns(unpacked(folder));

  const again = release(root, folder);
  expect(again).toMatchObject({ status: 1, stdout: "", stderr: expect.stringContaining("is not empty") });
  expect(again.stderr).toContain("not committed (CHANGELOG.md, package-lock.json, package.json)");
});

function expectVersionWritten(root: string): void {
  const json = (name: string) => JSON.parse(readFileSync(join(root, name), "utf8"));
  expect(json("package.json").version).toBe(VERSION);
  expect(json("package-lock.json")).toMatchObject({ version: VERSION, packages: { "": { version: VERSION } } });
  const today = new Date().toISOString().slice(0, 10);
  expect(readFileSync(join(root, "CHANGELOG.md"), "utf8")).toMatch(new RegExp(`^## ${VERSION} - ${today}$`, "m"));
  const changed = run("git", ["diff", "--name-only"], root).trim().split("\n");
  expect(changed).toEqual(["CHANGELOG.md", "package-lock.json", "package.json"]);
}

function expectSums(folder: string): void {
  const sums = readFileSync(join(folder, "SHA256SUMS"), "utf8").trim().split("\n");
  const expected = FILES.filter((name) => name !== "SHA256SUMS").map(
    (name) =>
      `${createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex")}  ${name}`,
  );
  expect(sums).toEqual(expected);
}

function expectPartsListed(folder: string): void {
  const wanted = productionPackages(readFileSync(join(ROOT, "package-lock.json"), "utf8"))
    .filter(({ name }) => !name.startsWith("@foundry-rs/"))
    .map(({ name, version }) => `${name}@${version}`);
  const { components, metadata } = JSON.parse(readFileSync(join(folder, `swapd-${VERSION}.sbom.json`), "utf8")) as {
    components: { group?: string; name: string; version: string }[];
    metadata: { component: { name: string; version: string } };
  };
  expect(metadata.component).toMatchObject({ name: "swapd", version: VERSION });
  const listed = components.map(({ name, version }) => `${name}@${version}`);
  expect([...new Set(listed)].sort()).toEqual([...new Set(wanted)].sort());
  const notices = readFileSync(join(folder, "THIRD-PARTY-NOTICES"), "utf8");
  for (const name of wanted) expect(notices).toContain(`\n${name.replace(/@(?=[^@]*$)/, " ")} (`);
  // Its package has no text of its licence, and its code is in the contracts that are passed on.
  expect(notices).toMatch(/@openzeppelin\/contracts .*\n\n.*OpenZeppelin Community.*\n\nPermission is hereby granted/);
  expect(notices).not.toContain("@uniswap/");
}

/** As npm lays a package out that it installs into an empty folder; its dependencies are links, for want of a registry. */
async function expectBeginsInAnEmptyFolder(unpackedPlace: string): Promise<void> {
  const project = temporaryDirectory();
  cpSync(unpackedPlace, join(project, "node_modules/swapd"), { recursive: true });
  linkProductionPackages(project);
  mkdirSync(join(project, "node_modules/.bin"));
  const command = join(project, "node_modules/.bin/swapd");
  symlinkSync("../swapd/bin/swapd.js", command);
  const folder = join(temporaryDirectory(), "swapd");
  const made = await runSwapd(project, ["init", "--dir", folder, "--yes", "--offline"], {}, command);
  expect(made, made.err).toMatchObject({ code: 0, out: expect.stringContaining("strategies/buy-weth.yaml") });
  const config = join(folder, "swapd.yaml");
  const checked = await runSwapd(project, ["check", "--offline", "--config", config], {}, command);
  expect(checked, checked.err).toMatchObject({ code: 0, out: expect.stringContaining("mode paper") });
}

async function expectRuns(place: string): Promise<void> {
  const files = readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(place.length + 1));
  expect(files).toEqual(expect.arrayContaining(["dist/main.js", "THIRD-PARTY-NOTICES", "npm-shrinkwrap.json"]));
  expect(files).toEqual(expect.arrayContaining(["config/policy.example.yaml", "docs/OPERATIONS.md", "LICENSE"]));
  expect(files.filter((file) => /^(?:src|test|scripts|bench|node_modules)\/|UniswapV[23]/.test(file))).toEqual([]);
  linkProductionPackages(place);
  const launcher = join(place, "bin/swapd.js");
  const cwd = temporaryDirectory();
  expect(await runSwapd(cwd, ["--version"], {}, launcher)).toMatchObject({ code: 0, out: `${VERSION}\n` });
  const example = join(place, "config/mainnet.example.yaml");
  const checked = await runSwapd(cwd, ["check", "--config", example], {}, launcher);
  expect(checked).toMatchObject({ code: 1, out: expect.stringContaining("strategies does not exist") });
  const sandbox = await runSwapd(cwd, ["sandbox"], { PATH: "/nowhere" }, launcher);
  expect(sandbox).toMatchObject({ code: 78, err: expect.stringContaining("npm install @uniswap/v2-core@") });
}

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dated, sectionOf } from "../../scripts/release/changelog.ts";
import { run } from "../../scripts/release/command.ts";
import { refusals } from "../../scripts/release/refusals.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const READY = "# Changelog\n\n## 0.2.0 - unreleased\n\n### Added\n\n- A door.\n\n## 0.1.0 - 2026-01-31\n\n- A wall.\n";

const RELEASE = { version: "0.2.0", day: "2026-02-28" };
const EXAMPLE = "strategies/examples/holidays.yaml";

/** A repository that is ready for 0.2.0, but for what is changed in it. */
function repository(files: Readonly<Record<string, string>> = {}): string {
  const root = temporaryDirectory();
  const all = {
    "package.json": '{ "version": "0.1.0" }\n',
    "package-lock.json": '{ "packages": { "": { "version": "0.1.0" } } }\n',
    "CHANGELOG.md": READY,
    [EXAMPLE]: 'until: 2026-02-28\nblackouts: ["2026-01-31..2026-03-01"]\n',
    ...files,
  };
  mkdirSync(join(root, "strategies/examples"), { recursive: true });
  for (const [name, text] of Object.entries(all)) writeFileSync(join(root, name), text);
  run("git", ["init", "--quiet"], root);
  run("git", ["add", "--all"], root);
  const somebody = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"];
  run("git", [...somebody, "commit", "--quiet", "--message", "Begin"], root);
  return root;
}

describe("a release", () => {
  it("is refused by nothing where the tree is clean and the changelog has its section", () => {
    expect(refusals(repository(), RELEASE)).toEqual([]);
  });

  it("is refused while files are changed or new, and names them", () => {
    const root = repository();
    writeFileSync(join(root, "package.json"), '{ "version": "0.1.0", "private": true }\n');
    writeFileSync(join(root, "left.txt"), "left\n");
    expect(refusals(root, RELEASE)).toEqual([expect.stringMatching(/not committed .*package\.json.*left\.txt/)]);
  });

  it.each([
    ["has no section of the version", READY.replaceAll("0.2.0", "0.3.0"), /no section 0\.2\.0/],
    ["says nothing of the version", READY.replace("- A door.\n", ""), /says nothing/],
    [
      "keeps lines alongside it",
      READY.replace("## 0.2.0", "## Unreleased\n\n- A roof.\n\n## 0.2.0"),
      /changes under `## Unreleased`/,
    ],
  ])("is refused while the changelog %s", (_what, changelog, reason) => {
    expect(refusals(repository({ "CHANGELOG.md": changelog }), RELEASE)).toEqual([expect.stringMatching(reason)]);
  });

  it("is refused for a version that is older than the tree's, or a tag", () => {
    const older = repository({ "package.json": '{ "version": "0.10.0" }\n' });
    expect(refusals(older, RELEASE)).toEqual([expect.stringContaining("0.2.0 is older than 0.10.0")]);
    const tagged = repository();
    run("git", ["tag", "v0.2.0"], tagged);
    expect(refusals(tagged, RELEASE)).toEqual([expect.stringContaining("v0.2.0 is a tag already")]);
  });

  it("is refused for a licence that may not be passed on, also of a package that another one brings", () => {
    const lock = {
      packages: {
        "": { version: "0.1.0" },
        "node_modules/plain": { version: "1.0.0", license: "MIT" },
        "node_modules/plain/node_modules/bound": { version: "2.0.0", license: "GPL-3.0-only" },
        "node_modules/tool": { version: "3.0.0", license: "GPL-3.0-only", dev: true },
      },
    };
    const reasons = refusals(repository({ "package-lock.json": JSON.stringify(lock) }), RELEASE);
    expect(reasons).toEqual([expect.stringContaining("bound (GPL-3.0-only)")]);
    expect(reasons.join()).not.toContain("tool");
  });

  it("is refused while an example names a day that is over, or a range whose last day is", () => {
    const over = 'until: 2026-02-27\nblackouts: ["2025-12-24..2026-01-02", "2026-02-01..2026-02-28"]\n';
    expect(refusals(repository({ [EXAMPLE]: over }), RELEASE)).toEqual([
      expect.stringContaining("(2026-02-27 in holidays.yaml, 2026-01-02 in holidays.yaml)"),
    ]);
  });

  it("reports everything that stands against it at once", () => {
    const root = repository({ "CHANGELOG.md": "# Changelog\n", "package.json": '{ "version": "1.0.0" }\n' });
    writeFileSync(join(root, "left.txt"), "left\n");
    expect(refusals(root, RELEASE)).toHaveLength(3);
  });
});

describe("the changelog", () => {
  it("gets the day of a release once", () => {
    const once = dated(READY, "0.2.0", "2026-02-28");
    expect(once).toBe(READY.replace("- unreleased", "- 2026-02-28"));
    expect(dated(once, "0.2.0", "2026-03-31")).toBe(once);
    expect(dated(READY, "0.1.0", "2026-03-31")).toBe(READY);
  });

  it("of this repository begins with what the next release has", () => {
    const changelog = readFileSync("CHANGELOG.md", "utf8");
    const [, first = ""] = /^## (\S+)/m.exec(changelog) ?? [];
    expect(sectionOf(changelog, first)?.changes.length).toBeGreaterThan(0);
  });
});

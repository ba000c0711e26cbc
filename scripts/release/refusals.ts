import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sectionOf } from "./changelog.ts";
import { run } from "./command.ts";
import { isAllowed, productionPackages } from "./packages.ts";

const SHOWN_FILES = 5;
const EXAMPLES = "strategies/examples";

/**
 * What stands against a release of this tree, a sentence each with what to do; empty when nothing does.
 * @param day of the release, in the form 2026-01-31
 */
export function refusals(root: string, { version, day }: { version: string; day: string }): readonly string[] {
  return [
    treeRefusal(root),
    versionRefusal(root, version),
    ...changelogRefusals(root, version),
    licenceRefusal(root),
    exampleRefusal(root, day),
  ].filter((sentence) => sentence !== undefined);
}

function treeRefusal(root: string): string | undefined {
  const changed = run("git", ["status", "--porcelain"], root)
    .split("\n")
    .filter((line) => line !== "");
  if (changed.length === 0) return undefined;
  const shown = changed.slice(0, SHOWN_FILES).map((line) => line.slice(3));
  const names = shown.join(", ") + (changed.length > SHOWN_FILES ? ", ..." : "");
  return `What changed in the tree is not committed (${names}): commit it or put it aside.`;
}

function versionRefusal(root: string, version: string): string | undefined {
  const { version: current } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  if (compareVersions(version, current) < 0)
    return `${version} is older than ${current} of package.json: name a newer one.`;
  const tags = run("git", ["tag", "--list", `v${version}`], root);
  return tags === ""
    ? undefined
    : `v${version} is a tag already: what was released stays as it is, name a newer version.`;
}

function changelogRefusals(root: string, version: string): readonly string[] {
  const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  const section = sectionOf(changelog, version);
  const waiting = sectionOf(changelog, "Unreleased")?.changes.length ?? 0;
  const under = `under \`## ${version}\``;
  return [
    ...(section === undefined ? [`CHANGELOG.md has no section ${version}: write what changed ${under}.`] : []),
    ...(section?.changes.length === 0 ? [`CHANGELOG.md says nothing ${under}: write a line a change.`] : []),
    ...(waiting > 0 ? [`CHANGELOG.md has changes under \`## Unreleased\`: move them ${under}.`] : []),
  ];
}

function licenceRefusal(root: string): string | undefined {
  const packages = productionPackages(readFileSync(join(root, "package-lock.json"), "utf8"));
  const refused = packages.filter(({ licence }) => !isAllowed(licence));
  if (refused.length === 0) return undefined;
  const names = refused.map(({ name, licence }) => `${name} (${licence})`).join(", ");
  return `Licences that may not be passed on: ${names}. Make them development dependencies, or do without.`;
}

/**
 * Days are over at some time in every tree, so no test looks for them: a release begins with none. A range is over once its
 * last day is.
 */
function exampleRefusal(root: string, day: string): string | undefined {
  const over = readdirSync(join(root, EXAMPLES)).flatMap((name) => {
    const text = readFileSync(join(root, EXAMPLES, name), "utf8");
    const days = text.match(/\d{4}-\d\d-\d\d(?!\.\.)/g) ?? [];
    return days.filter((one) => one < day).map((one) => `${one} in ${name}`);
  });
  if (over.length === 0) return undefined;
  return `Examples in ${EXAMPLES} name days that are over (${over.join(", ")}): name later ones.`;
}

/** Negative when the first is the older one. Both are three numbers. */
function compareVersions(a: string, b: string): number {
  const theirs = b.split(".").map(Number);
  const differences = a.split(".").map((part, index) => Number(part) - (theirs[index] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

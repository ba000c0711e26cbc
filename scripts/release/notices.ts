import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { ProductionPackage } from "./packages.ts";

/** Packages whose code is compiled into the contracts' artifacts, which are passed on. */
const COMPILED_IN = ["@openzeppelin/contracts"];

const LEGAL_FILE = /^(?:licen[cs]e|notice|copying)\b/i;

const manifestSchema = z.looseObject({
  version: z.string(),
  license: z.string(),
  author: z.union([z.string(), z.looseObject({ name: z.string() })]).optional(),
  repository: z.union([z.string(), z.looseObject({ url: z.string() })]).optional(),
});

interface Notice {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly text: string;
}

/** The text of THIRD-PARTY-NOTICES: whose code an installed swapd runs or carries, with the words of each licence. */
export function noticesText(root: string, packages: readonly ProductionPackage[]): string {
  const installed = packages.filter(({ isOptional }) => !isOptional);
  const folders = [...installed, ...COMPILED_IN.map((name) => ({ name, folder: `node_modules/${name}` }))];
  const notices = folders.map(({ name, folder }) => noticeOf(root, name, folder));
  // A package that is there twice in one version says the same twice.
  const once = new Map(notices.map((notice) => [`${notice.name} ${notice.version}`, notice]));
  const binaries = packages.filter(({ isOptional }) => isOptional);
  return [
    "swapd is made with the work of others. These are the packages that it needs, with their licences.",
    ...binaries.map(
      ({ name, version, licence }) =>
        `${name} ${version} (${licence}) is a program of its own, with its licence alongside it.`,
    ),
    ...[...once.values()].map(
      ({ name, version, licence, text }) => `${"=".repeat(80)}\n${name} ${version} (${licence})\n\n${text}`,
    ),
    "",
  ].join("\n\n");
}

function noticeOf(root: string, name: string, place: string): Notice {
  const folder = join(root, place);
  if (!existsSync(folder)) throw new Error(`${name} is not installed in ${folder}: run \`npm ci\` first`);
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && LEGAL_FILE.test(entry.name))
    .map((entry) => readFileSync(join(folder, entry.name), "utf8").replaceAll("\r\n", "\n").trim());
  const text =
    files.length > 0 ? files.join("\n\n") : withoutText(manifest, readFileSync(join(root, "LICENSE"), "utf8"));
  return { name, version: manifest.version, licence: manifest.license, text };
}

/** Whose work it is, as far as the package says so. Our own licence has the words of MIT. */
function withoutText({ license, author, repository }: z.infer<typeof manifestSchema>, ownLicence: string): string {
  const by = typeof author === "object" ? author.name : author;
  const at = typeof repository === "object" ? repository.url : repository;
  const whose = [by, at].filter((part) => part !== undefined).join(", ");
  const named = `The package carries no text of its licence and names it as ${license}${whose === "" ? "" : `, by ${whose}`}.`;
  return license === "MIT" ? `${named}\n\n${ownLicence.slice(ownLicence.indexOf("Permission is")).trim()}` : named;
}

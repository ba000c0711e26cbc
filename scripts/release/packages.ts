import { z } from "zod";

/** A package that an installed swapd needs, as the lock file pins it. */
export interface ProductionPackage {
  readonly name: string;
  readonly version: string;
  /** as its author writes it, an SPDX expression; undefined where none is named */
  readonly licence: string | undefined;
  /** where npm puts it, relative to the repository */
  readonly folder: string;
  /** a binary for one platform, which the image leaves out */
  readonly isOptional: boolean;
}

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.looseObject({
      version: z.string(),
      license: z.string().optional(),
      dev: z.boolean().default(false),
      optional: z.boolean().default(false),
    }),
  ),
});

/** Licences that ask for no more than to be named with their text. */
const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "PSF-2.0",
  "Python-2.0",
  "Unlicense",
]);

/** What `npm ci --omit=dev` installs, transitive ones too, by name. Those of other platforms are listed as well. */
export function productionPackages(lockText: string): readonly ProductionPackage[] {
  const { packages } = lockSchema.parse(JSON.parse(lockText));
  return Object.entries(packages)
    .filter(([folder, { dev }]) => folder !== "" && !dev)
    .map(([folder, { version, license, optional }]) => {
      const name = folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
      return { name, version, licence: license, folder, isOptional: optional };
    })
    .sort((a, b) => (a.name === b.name ? compare(a.folder, b.folder) : compare(a.name, b.name)));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : 1;
}

/** Whether an SPDX expression leaves a choice that is allowed. One that is not understood is not allowed. */
export function isAllowed(licence: string | undefined): boolean {
  const plain = licence?.replace(/^\((.*)\)$/, "$1") ?? "";
  return plain.split(" OR ").some((choice) => choice.split(" AND ").every((one) => ALLOWED.has(one)));
}

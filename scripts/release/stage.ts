import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { run } from "./command.ts";
import { noticesText } from "./notices.ts";
import { productionPackages } from "./packages.ts";

export const NOTICES_FILE = "THIRD-PARTY-NOTICES";

/** What the package has besides the compiled program. */
const SHIPPED = [
  "bin",
  "config",
  "contracts/artifacts",
  "docs",
  "strategies",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "LICENSE",
  "README.md",
];

/** Binaries for development and the sandbox, which npm cannot install as such for one platform only. */
const DEVELOPMENT_BINARIES = /^@foundry-rs\//;

const record = z.record(z.string(), z.string());
const manifestSchema = z.looseObject({ dependencies: record, optionalDependencies: record });
const lockSchema = z.looseObject({
  packages: z.record(z.string(), z.looseObject({ dev: z.boolean().default(false) })),
});

/** Fields of package.json that mean something where swapd is installed. */
const KEPT_FIELDS = ["name", "version", "description", "license", "private", "type", "bin", "engines"];

/**
 * Lays out in a folder what the package is made of: the compiled program, the files that git knows of, a manifest without
 * development, the lock file's versions for npm to keep to, and the licences of others.
 */
export function stagePackage(root: string, folder: string): void {
  const files = run("git", ["ls-files", "-z", "--", ...SHIPPED], root).split("\0");
  for (const file of files.filter((name) => name !== "")) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
  cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true });
  const manifest = installedManifest(readFileSync(join(root, "package.json"), "utf8"));
  writeFileSync(join(folder, "package.json"), jsonText(manifest));
  const lock = installedLock(readFileSync(join(root, "package-lock.json"), "utf8"), manifest);
  writeFileSync(join(folder, "npm-shrinkwrap.json"), lock);
  writeFileSync(join(folder, NOTICES_FILE), noticesText(root, productionPackages(lock)));
}

function installedManifest(text: string): Readonly<Record<string, unknown>> {
  const manifest = manifestSchema.parse(JSON.parse(text));
  const kept = Object.entries(manifest).filter(([field]) => KEPT_FIELDS.includes(field));
  return {
    ...Object.fromEntries(kept),
    dependencies: manifest.dependencies,
    optionalDependencies: withoutDevelopment(manifest.optionalDependencies),
  };
}

/** npm keeps to a lock file inside a package under this name alone. */
function installedLock(text: string, manifest: Readonly<Record<string, unknown>>): string {
  const lock = lockSchema.parse(JSON.parse(text));
  const installed = Object.fromEntries(Object.entries(lock.packages).filter(([, { dev }]) => !dev));
  const { description: _description, private: _private, type: _type, ...root } = manifest;
  const packages = Object.entries(installed).map(([path, { dev: _dev, ...entry }]) => [
    path,
    path === "" ? root : entry,
  ]);
  const kept = withoutDevelopment(Object.fromEntries(packages) as Readonly<Record<string, unknown>>);
  return jsonText({ ...lock, version: manifest.version, packages: kept });
}

function withoutDevelopment<Value>(byName: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  const kept = Object.entries(byName).filter(
    ([name]) => !DEVELOPMENT_BINARIES.test(name.replace(/^node_modules\//, "")),
  );
  return Object.fromEntries(kept);
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

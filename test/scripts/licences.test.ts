import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isAllowed, productionPackages } from "../../scripts/release/packages.ts";
import { ROOT, readText } from "../style/support/repository.ts";

const packages = productionPackages(readText("package-lock.json"));
const called = ({ name, version, licence }: (typeof packages)[number]) => `${name} ${version}: ${licence}`;

describe("what an installed swapd is made of", () => {
  it("has licences that ask for no more than to be named", () => {
    expect(packages.length).toBeGreaterThan(40);
    expect(packages.filter(({ licence }) => !isAllowed(licence)).map(called)).toEqual([]);
  });

  it("says the same of its licences in the lock file and in its own files", () => {
    const different = packages.filter(({ folder, licence, isOptional }) => {
      const manifest = join(ROOT, folder, "package.json");
      if (isOptional && !existsSync(manifest)) return false;
      return (JSON.parse(readFileSync(manifest, "utf8")) as { license?: unknown }).license !== licence;
    });
    expect(different.map(called)).toEqual([]);
  });

  it("holds none of the packages whose bytecode tests and sandbox read", () => {
    const { devDependencies } = JSON.parse(readText("package.json")) as { devDependencies: Record<string, string> };
    for (const name of [
      ...["@uniswap/v2-core", "@uniswap/v3-core", "@uniswap/v2-periphery", "@uniswap/v3-periphery"],
      ...["@uniswap/v4-core", "@pancakeswap/v3-core", "@gnosis.pm/safe-contracts"],
      ...["@safe-global/safe-contracts", "@safe-global/safe-smart-account"],
    ]) {
      expect(packages.filter((one) => one.name === name)).toEqual([]);
      expect(Object.keys(devDependencies)).toContain(name);
    }
  });
});

describe("a licence", () => {
  it.each(["MIT", "(MIT OR GPL-3.0-only)", "GPL-2.0-only OR Apache-2.0", "MIT AND BSD-3-Clause"])(
    "%s is allowed",
    (one) => expect(isAllowed(one)).toBe(true),
  );

  it.each([
    "GPL-3.0-or-later",
    "BUSL-1.1",
    "AGPL-3.0-only",
    "MIT AND GPL-3.0-only",
    "SEE LICENSE IN LICENSE",
    "",
    undefined,
  ])("%s is refused", (one) => expect(isAllowed(one)).toBe(false));
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findAnvil } from "../../src/sandbox/anvil-binary.ts";

const folder = mkdtempSync(join(tmpdir(), "swapd-anvil-"));
const binary = join(folder, "anvil");
writeFileSync(binary, "", { mode: 0o755 });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("takes the one that a person names before the package's", () => {
  expect(findAnvil({ SWAPD_ANVIL: binary })).toBe(binary);
});

describe("on a platform without a packaged anvil", () => {
  it("takes the one that SWAPD_ANVIL names before the one on the PATH", () => {
    const named = join(folder, "other");
    writeFileSync(named, "", { mode: 0o755 });
    expect(findAnvil({ SWAPD_ANVIL: named, PATH: folder }, "plan9 mips")).toBe(named);
    expect(findAnvil({ PATH: `/nowhere:${folder}` }, "plan9 mips")).toBe(binary);
  });

  it("refuses a SWAPD_ANVIL that is no program instead of silently taking another", () => {
    expect(() => findAnvil({ SWAPD_ANVIL: join(folder, "absent"), PATH: folder }, "plan9 mips")).toThrow("SWAPD_ANVIL");
  });

  it("says what to install when there is none at all", () => {
    expect(() => findAnvil({ PATH: "/nowhere" }, "plan9 mips")).toThrow(/plan9 mips.*Foundry.*SWAPD_ANVIL/s);
  });
});

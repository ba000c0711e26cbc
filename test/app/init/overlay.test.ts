import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withOverlay } from "../../../src/app/init/overlay.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const TEXTS = new Map([["strategies/new.yaml", "kind: dca"]]);

test("a folder keeps what it has, and other texts stand alongside it", async () => {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, "strategies"));
  writeFileSync(join(folder, "strategies/old.yaml"), "kind: twap");
  const seen = await withOverlay(folder, TEXTS, async (scratch) => [
    readdirSync(join(scratch, "strategies")).sort(),
    readFileSync(join(scratch, "strategies/old.yaml"), "utf8"),
  ]);
  expect(seen).toEqual([["new.yaml", "old.yaml"], "kind: twap"]);
  expect(readdirSync(join(folder, "strategies"))).toEqual(["old.yaml"]);
});

test("a draft of its own has nothing of the folder that swapd is started in", async () => {
  expect(readdirSync("strategies").length).toBeGreaterThan(0);
  const seen = await withOverlay(undefined, TEXTS, async (scratch) => readdirSync(join(scratch, "strategies")));
  expect(seen).toEqual(["new.yaml"]);
});

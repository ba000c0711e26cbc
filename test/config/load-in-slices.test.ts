import { join } from "node:path";
import { expect, it } from "vitest";
import { loadConfiguration, loadInSlices } from "../../src/app/load-configuration.ts";
import { DCA, project } from "./project.ts";

const FILES = 600;

function many(change: Readonly<Record<string, string>> = {}): string {
  const names = Array.from({ length: FILES }, (_, index) => `strategies/s${index}.yaml`);
  return join(project({ ...Object.fromEntries(names.map((name) => [name, DCA])), ...change }), "main.yaml");
}

it("gives others their turn while thousands of files are read, and comes to the same configuration", async () => {
  const file = many();
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const loaded = await loadInSlices(file, {});
  isOver = true;
  expect(turns).toBeGreaterThan(5);
  const atOnce = loadConfiguration(file, {});
  if (!loaded.ok || !atOnce.ok) throw new Error("it is refused");
  expect({ ...loaded.configuration, warnings: [] }).toEqual({ ...atOnce.configuration, warnings: [] });
});

it("reports all problems of all files in turns too", async () => {
  const file = many({ "strategies/s7.yaml": DCA.replace("sell:", "sel:"), "strategies/s500.yaml": "kind: dca\n" });
  const loaded = await loadInSlices(file, {});
  expect(loaded).toEqual(loadConfiguration(file, {}));
});

import { renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { createRandomIds } from "../../src/adapters/ids/random-ids.ts";
import { loadConfiguration } from "../../src/app/load-configuration.ts";
import { stateOf, watchFiles } from "../../src/app/watch-files.ts";
import type { LoadedStrategy } from "../../src/config/configuration.ts";
import type { LoadOutcome } from "../../src/config/load-configuration.ts";
import { DCA, MAIN, POLICY, project } from "../config/project.ts";
import { openDaemonDatabase } from "../support/daemon-database.ts";
import { silentLogger } from "../support/silent-logger.ts";

/** A daemon's watch over real files, looking every few milliseconds. */
async function begin(
  change: (folder: string) => void = () => undefined,
  answer: (loaded: LoadOutcome, write: (name: string, text: string) => void) => Promise<LoadOutcome> = async (loaded) =>
    loaded,
  atAdoption: () => Promise<void> = async () => undefined,
) {
  const folder = project();
  change(folder);
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const load = () => answer(loadConfiguration(join(folder, "main.yaml"), process.env), write);
  const loaded = loadConfiguration(join(folder, "main.yaml"), process.env);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const asRead = stateOf(loaded.configuration);
  const { store, db } = openDaemonDatabase();
  const adopted: (readonly LoadedStrategy[])[] = [];
  const reported: string[] = [];
  const left = {
    severity: "warning",
    code: "RESTART_NEEDED",
    subject: "configuration",
    text: "of an earlier life",
  } as const;
  store.raiseAlert({ ...left, id: "alert_0", atMs: 1, strategy: undefined, runId: undefined });
  const deps = {
    ...{ store, load, asRead, clock: systemClock, ids: createRandomIds(systemClock.nowMs), logger: silentLogger() },
    notifier: { notify: ({ code }: { readonly code: string }) => void reported.push(code) },
    adopt: async (strategies: readonly LoadedStrategy[]) => {
      await atAdoption();
      adopted.push(strategies);
    },
  };
  const start = () => watchFiles(loaded.configuration, deps, 15);
  let stop = await start();
  onTestFinished(() => stop());
  const openAlerts = (): unknown[] => db.prepare("SELECT code FROM alerts WHERE over_at_ms IS NULL").pluck().all();
  const textOfOpen = (): unknown => db.prepare("SELECT text FROM alerts WHERE over_at_ms IS NULL").pluck().get();
  const again = async (): Promise<void> => {
    await stop();
    stop = await start();
  };
  return { folder, adopted, reported, write, openAlerts, textOfOpen, again, stop: () => stop() };
}

const soon = { timeout: 20_000, interval: 10 };
const aWhile = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 300));

describe("files that are edited under a running daemon", () => {
  it("are in order at a start: what was said of those of an earlier life is over", async () => {
    expect((await begin()).openAlerts()).toEqual([]);
  });

  it("are taken over when a strategy changes, comes or goes", async () => {
    const { folder, adopted, write, reported } = await begin();
    write("strategies/weekly.yaml", DCA.replace("100 USDC", "50 USDC"));
    await vi.waitFor(() => expect(adopted).toHaveLength(1), soon);
    expect(adopted[0]?.[0]?.spec).toMatchObject({ sell: { raw: 50_000_000n } });
    write("strategies/second.yaml", DCA);
    await vi.waitFor(() => expect(adopted.at(-1)?.map(({ spec }) => spec.id)).toEqual(["second", "weekly"]), soon);
    rmSync(join(folder, "strategies", "weekly.yaml"));
    await vi.waitFor(() => expect(adopted.at(-1)?.map(({ spec }) => spec.id)).toEqual(["second"]), soon);
    expect(reported).toEqual([]);
  });

  it.each(["in its place", "by another file"])(
    "are taken over though size and time stay as they were: %s",
    async (how) => {
      const epoch = (file: string): void => utimesSync(file, 1, 1);
      const { folder, adopted } = await begin((path) => epoch(join(path, "strategies/weekly.yaml")));
      const weekly = join(folder, "strategies/weekly.yaml");
      const written = how === "in its place" ? weekly : join(folder, "new");
      writeFileSync(written, DCA.replace("100 USDC", "900 USDC"));
      epoch(written);
      renameSync(written, weekly);
      await vi.waitFor(() => expect(adopted).toHaveLength(1), soon);
      expect(adopted[0]?.[0]?.spec).toMatchObject({ sell: { raw: 900_000_000n } });
    },
  );

  it("are taken over too where that was while the daemon started, after it had read them", async () => {
    const { adopted, write, again, stop, reported } = await begin();
    await stop();
    write("strategies/weekly.yaml", DCA.replace("100 USDC", "50 USDC"));
    await again();
    await vi.waitFor(() => expect(adopted).toHaveLength(1), soon);
    expect(adopted[0]?.[0]?.spec).toMatchObject({ sell: { raw: 50_000_000n } });
    await aWhile();
    expect([adopted.length, reported]).toEqual([1, []]);
  });

  it("change nothing while they are broken, and a person is notified once, until they are mended", async () => {
    const { adopted, write, reported, openAlerts, textOfOpen } = await begin();
    write("strategies/weekly.yaml", DCA.replace("sell:", "sel:"));
    await vi.waitFor(() => expect(reported).toEqual(["CONFIGURATION_REFUSED"]), soon);
    expect(openAlerts()).toEqual(["CONFIGURATION_REFUSED"]);
    write("strategies/weekly.yaml", DCA.replace("sell:", "seell:"));
    await aWhile();
    expect(reported).toEqual(["CONFIGURATION_REFUSED"]);
    // Who looks finds what is wrong by now.
    expect(textOfOpen()).toContain("seell");
    expect(adopted).toEqual([]);
    write("strategies/weekly.yaml", DCA.replace("100 USDC", "60 USDC"));
    await vi.waitFor(() => expect(openAlerts()).toEqual([]), soon);
    expect(adopted).toHaveLength(1);
  });

  it("need a new start when policy or main file changed: nothing of such an edit applies, strategies neither", async () => {
    const { adopted, write, reported } = await begin();
    write("policy.yaml", POLICY.replace('"500 USD"', '"900 USD"'));
    await vi.waitFor(() => expect(reported).toEqual(["RESTART_NEEDED"]), soon);
    write("strategies/weekly.yaml", DCA.replace("100 USDC", "800 USDC"));
    await aWhile();
    expect([adopted, reported]).toEqual([[], ["RESTART_NEEDED"]]);
    write("policy.yaml", POLICY);
    await vi.waitFor(() => expect(adopted).toHaveLength(1), soon);
    expect(adopted[0]?.[0]?.spec).toMatchObject({ sell: { raw: 800_000_000n } });
  });

  it("need a new start too where a wallet's keystore is another account's: nobody here has its key", async () => {
    const { adopted, write, reported } = await begin();
    write("wallet.json", JSON.stringify({ version: 3, address: "ab".repeat(20) }));
    write("strategies/weekly.yaml", DCA.replace("100 USDC", "50 USDC"));
    await vi.waitFor(() => expect(reported).toEqual(["RESTART_NEEDED"]), soon);
    await aWhile();
    expect([adopted, reported]).toEqual([[], ["RESTART_NEEDED"]]);
  });

  it("that cannot even be looked at are a bad edit like others: the watch goes on", async () => {
    const { folder, adopted, reported, write } = await begin();
    symlinkSync("loop.yaml", join(folder, "strategies", "loop.yaml"));
    await vi.waitFor(() => expect(reported).toEqual(["CONFIGURATION_REFUSED"]), soon);
    rmSync(join(folder, "strategies", "loop.yaml"));
    write("strategies/weekly.yaml", DCA.replace("100 USDC", "40 USDC"));
    await vi.waitFor(() => expect(adopted).toHaveLength(1), soon);
  });

  it("are missed by a person when none is left, as in a folder that was unmounted, until one is back", async () => {
    const { folder, adopted, reported, write, openAlerts } = await begin();
    rmSync(join(folder, "strategies", "weekly.yaml"));
    await vi.waitFor(() => expect(reported).toEqual(["NO_STRATEGIES_LEFT"]), soon);
    expect(adopted).toEqual([[]]);
    write("main.yaml", `${MAIN}\n`);
    write("main.yaml", MAIN);
    await aWhile();
    expect([openAlerts(), reported]).toEqual([["NO_STRATEGIES_LEFT"], ["NO_STRATEGIES_LEFT"]]);
    write("strategies/weekly.yaml", DCA);
    // It is said to be over once the files were taken over.
    await vi.waitFor(() => expect(openAlerts()).toEqual([]), soon);
    expect(adopted).toHaveLength(2);
  });

  it("are taken over to the end before a stop is over: the rows are closed then", async () => {
    const adoption = Promise.withResolvers<void>();
    let isBegun = false;
    const { adopted, write, reported, openAlerts, stop } = await begin(undefined, undefined, () => {
      isBegun = true;
      return adoption.promise;
    });
    write("strategies/weekly.yaml", DCA.replace("sell:", "sel:"));
    await vi.waitFor(() => expect(reported).toEqual(["CONFIGURATION_REFUSED"]), soon);
    write("strategies/weekly.yaml", DCA.replace("100 USDC", "60 USDC"));
    await vi.waitFor(() => expect(isBegun).toBe(true), soon);
    const stopped = stop();
    adoption.resolve();
    await stopped;
    expect([adopted.length, openAlerts()]).toEqual([1, []]);
  });

  it("are missed at a start too, and not again at the next one", async () => {
    const { reported, openAlerts, write, again } = await begin((folder) =>
      rmSync(join(folder, "strategies", "weekly.yaml")),
    );
    expect([openAlerts(), reported]).toEqual([["NO_STRATEGIES_LEFT"], ["NO_STRATEGIES_LEFT"]]);
    await again();
    expect(reported).toEqual(["NO_STRATEGIES_LEFT"]);
    write("strategies/weekly.yaml", DCA);
    await vi.waitFor(() => expect(openAlerts()).toEqual([]), soon);
  });

  it("are read again when they are edited once more while they are read, and the half of an edit is not taken", async () => {
    let edits = 0;
    const { adopted, write } = await begin(undefined, (loaded, writeMore) => {
      edits += 1;
      if (edits === 1) writeMore("strategies/second.yaml", DCA);
      return Promise.resolve(loaded);
    });
    write("strategies/weekly.yaml", DCA.replace("100 USDC", "50 USDC"));
    await vi.waitFor(() => expect(adopted).toHaveLength(1), soon);
    expect(adopted[0]?.map(({ spec }) => spec.id)).toEqual(["second", "weekly"]);
    await aWhile();
    expect(adopted).toHaveLength(1);
  });

  it("change nothing when the watch ends while they are read", async () => {
    const ending: { stop: () => void } = { stop: () => undefined };
    let isAsked = false;
    const { adopted, write, stop } = await begin(undefined, (loaded) => {
      isAsked = true;
      ending.stop();
      return Promise.resolve(loaded);
    });
    ending.stop = stop;
    write("strategies/weekly.yaml", DCA.replace("100 USDC", "50 USDC"));
    await vi.waitFor(() => expect(isAsked).toBe(true), soon);
    await aWhile();
    expect(adopted).toEqual([]);
  });

  it("are left alone when they are written again as they were, and after the watch has ended", async () => {
    const { adopted, write, stop } = await begin();
    write("strategies/weekly.yaml", DCA);
    write("main.yaml", MAIN);
    await aWhile();
    expect(adopted).toEqual([]);
    await stop();
    write("strategies/weekly.yaml", DCA.replace("100 USDC", "70 USDC"));
    await aWhile();
    expect(adopted).toEqual([]);
  });
});

import { join } from "node:path";
import { expect, test } from "vitest";
import { createListing } from "../../src/adapters/sqlite/daemon/listing.ts";
import { createReadModel } from "../../src/adapters/sqlite/daemon/read-model.ts";
import { statusAnswer } from "../../src/app/chat/answers.ts";
import { readStatus } from "../../src/app/commands/status-document.ts";
import { formatOpenAlerts, formatStanding } from "../../src/app/commands/status-standing.ts";
import { standingQuestion } from "../../src/app/read-standing.ts";
import type { Configuration } from "../../src/config/configuration.ts";
import { alertSample, dcaSpec, NOW_MS, USDC, WALLET } from "../support/builders.ts";
import { addStrategy, openDaemonDatabase } from "../support/daemon-database.ts";
import { memoryDirectory } from "../support/temporary-directory.ts";

const SPECS = Array.from({ length: 30 }, (_, number) => dcaSpec({ id: `weekly-${String(number).padStart(2, "0")}` }));

/** Thirty strategies, a hundred and fifty warnings, and one alert that is critical, the newest. */
function begin() {
  const { db, file, store } = openDaemonDatabase(join(memoryDirectory(), "fleet.db"));
  for (const spec of SPECS) addStrategy(store, spec);
  const warning = (count: number) => ({ id: `w${count}`, code: "NO_PRICE", subject: `prices of ${count}` });
  for (let count = 0; count < 150; count += 1) store.raiseAlert(alertSample(warning(count)));
  const away = { id: "c", severity: "critical", code: "SIGNER_AWAY", subject: "signer of main" } as const;
  store.raiseAlert(alertSample({ ...away, text: "nothing is signed for main" }));
  const key = { kind: "remote", url: "https://vault:9000/", address: WALLET };
  const configuration = {
    ...{ mode: "live", database: file, service: { url: "embedded" }, serve: {}, policy: { maxPerDayUsd: 1n } },
    network: { name: "base", submit: { kind: "named", endpoints: [] } },
    strategies: SPECS.map((spec) => ({ spec, file: `${spec.id}.yaml`, hash: "h" })),
    tokens: new Map([["USDC", { token: USDC }]]),
    wallets: new Map([["main", { name: "main", address: WALLET, delegate: undefined, key }]]),
  } as unknown as Configuration;
  const reads = createReadModel(db);
  return {
    db,
    store,
    configuration,
    reads,
    check: () => readStatus(reads, { database: file, settings: configuration }),
  };
}

test("what is critical is told first, and is not lost behind a hundred warnings", async () => {
  const { db, check, reads } = begin();
  const document = await check();
  expect(document.openAlerts[0]).toMatchObject({ code: "SIGNER_AWAY", severity: "critical" });
  expect(document.waitsFor).toMatchObject([{ text: "nothing is signed for main" }]);
  expect(document.signers).toMatchObject([{ awaySince: expect.any(String) }]);
  expect((await createListing(db).states()).openAlerts[0]).toMatchObject({ code: "SIGNER_AWAY" });
  const shown = formatOpenAlerts(document);
  expect(shown[0]).toContain("nothing is signed for main");
  expect(shown.at(-1)).toMatch(/^100 of 151 open alerts are listed/);
  expect((await reads.status(standingQuestion(undefined, NOW_MS))).alertCounts).toEqual([
    { severity: "critical", code: "SIGNER_AWAY", count: 1 },
    { severity: "warning", code: "NO_PRICE", count: 150 },
  ]);
});

test("the answer to a phone begins with what is critical, and with the strategy that was stopped by itself", async () => {
  const { store, configuration, reads } = begin();
  store.setMode({ scope: "weekly-27", mode: "halted", setBy: "ops", reason: "r", atMs: NOW_MS });
  const lines = (await statusAnswer({ configuration: () => configuration, reads, nowMs: () => NOW_MS })).split("\n");
  expect(lines.filter((line) => line.startsWith("weekly-"))[0]).toMatch(/^weekly-27: halted/);
  expect(lines).toContain("and 18 strategies more");
  expect(lines).toContain("and 139 alerts more");
  expect(lines.find((line) => line.startsWith("SIGNER_AWAY"))).toContain("signer of main");
});

test("a table of balances that has an end says how many it leaves out", async () => {
  const { check } = begin();
  const document = await check();
  const balances = Array.from({ length: 60 }, (_, block) => ({
    wallet: `w${block}`,
    token: "USDC",
    amount: "1",
    block,
  }));
  expect(formatStanding({ ...document, balances }).join("\n")).toMatch(/\n\.\.\. and 40 more \(--json has all\)$/);
  const few = formatStanding({ ...document, balances: balances.slice(0, 20) }).join("\n");
  expect(few).not.toContain("more (--json");
});

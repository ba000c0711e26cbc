import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ANVIL_ACCOUNT } from "../support/bare-anvil.ts";
import { openDaemonDatabase } from "../support/daemon-database.ts";
import { readDryExample } from "../support/example-file.ts";
import { openLaneDatabase } from "../support/lane-database.ts";
import { makeFolder, run } from "./support/swapd.ts";

const REASON = "nonce 4 was used in a finalised block by a transaction that is not ours";
const ENVIRONMENT = { RPC_1: "http://127.0.0.1:1", RPC_2: "http://127.0.0.1:2" };

it("a halted relayer of the service is released by a person's word for it alone, in the service's database", async () => {
  const folder = makeFolder();
  try {
    const file = join(folder.path, "config/relayer.yaml");
    const example = readDryExample(folder.path);
    const service = join(folder.path, "service.db");
    const daemon = example
      .replace("main: {", `main: { address: "${ANVIL_ACCOUNT}",`)
      .replace("/data/swapd.db", join(folder.path, "swapd.db"))
      .replace("/data/service.db", service);
    writeFileSync(file, daemon);
    const swapd = (...args: string[]) => run(folder.path, [...args, "--config", file], ENVIRONMENT);
    expect(await swapd("resume", "--relayer")).toMatchObject({ code: 1, err: expect.stringContaining(service) });
    const { store: lanes, db } = openLaneDatabase(service);
    lanes.addHalt({ account: ANVIL_ACCOUNT, chainId: 8453, reason: REASON, transactionCount: 5, atMs: 0 });

    await swapd("resume");
    expect(lanes.halts().length).toBe(1);
    expect((await swapd("resume", "weekly-eth", "--relayer")).code).toBe(2);
    expect(lanes.halts().length).toBe(1);

    const released = await swapd("resume", "--relayer", "--reason", "it was me");
    expect(released).toMatchObject({ code: 0, err: "" });
    expect(released.out).toContain(`released the relayer ${ANVIL_ACCOUNT}, which was halted because ${REASON}`);
    expect(lanes.halts()).toEqual([]);
    expect(lanes.account(ANVIL_ACCOUNT, 8453).acceptedCount).toBe(5);
    expect(db.prepare("SELECT released_by FROM lane_halts").pluck().get()).toMatch(/: it was me$/);
    expect((await swapd("resume", "--relayer")).out).toContain("nothing to release");
  } finally {
    folder.remove();
  }
});

it("a halted account is shown with its reason, and released by a person's word for all and no other", async () => {
  const folder = makeFolder();
  try {
    const example = readDryExample(folder.path);
    const file = join(folder.path, "config/halted.yaml");
    writeFileSync(
      file,
      example
        .replace("main: {", `main: { address: "${ANVIL_ACCOUNT}",`)
        .replace("/data/swapd.db", join(folder.path, "swapd.db")),
    );
    const { lanes } = openDaemonDatabase(join(folder.path, "swapd.db"));
    lanes.addHalt({ account: ANVIL_ACCOUNT, chainId: 8453, reason: REASON, transactionCount: 5, atMs: 0 });
    const swapd = (...args: string[]) => run(folder.path, [...args, "--config", file], ENVIRONMENT);

    const status = await swapd("status");
    expect(status).toMatchObject({ code: 0, err: "" });
    expect(status.out).toMatch(new RegExp(`${ANVIL_ACCOUNT} .*${REASON}`));
    const shown = JSON.parse((await swapd("status", "--json")).out) as { halts: unknown[] };
    expect(shown.halts).toMatchObject([{ account: ANVIL_ACCOUNT, reason: REASON }]);

    await swapd("resume", "weekly-eth");
    await swapd("pause");
    expect(lanes.halts().length).toBe(1);
    const mistyped = await swapd("halt", "weekly-ehT");
    expect(mistyped).toMatchObject({ code: 1, err: expect.stringContaining('refused: no strategy "weekly-ehT"') });
    const { modes } = JSON.parse((await swapd("status", "--json")).out) as { modes: unknown[] };
    expect(modes).toMatchObject([{ scope: "global", mode: "paused", reason: "no reason given" }]);

    const resumed = await swapd("resume", "--reason", "it was me");
    expect(resumed.out).toContain(`released ${ANVIL_ACCOUNT}, which was halted because ${REASON}`);
    expect(resumed.code).toBe(0);
    expect(lanes.halts()).toEqual([]);
    expect(lanes.account(ANVIL_ACCOUNT, 8453).acceptedCount).toBe(5);
    expect((JSON.parse((await swapd("status", "--json")).out) as { halts: unknown[] }).halts).toEqual([]);
  } finally {
    folder.remove();
  }
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createKeyStore, digestOf, withKeyStore } from "../../../src/service/keys/key-store.ts";
import { openServiceDatabase } from "../../../src/service/store/service-store.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const partner = { name: "partner", requestsPerSecond: null };

describe("API keys", () => {
  test("are in force from the next request on when another process adds or revokes them", () => {
    const file = join(temporaryDirectory(), "service.db");
    const db = openServiceDatabase(file);
    const keys = createKeyStore(db);
    const key = withKeyStore(file, (other) => other.add({ ...partner, requestsPerSecond: 7 }, 1)) ?? "";
    expect(key).toMatch(/^swapd_[A-Za-z0-9_-]{43}$/);
    expect(keys.find(digestOf(key))).toMatchObject({ name: "partner", requestsPerSecond: 7, createdAtMs: 1 });
    expect(keys.find(digestOf(`${key}x`))).toBeUndefined();
    expect(withKeyStore(file, (other) => other.revoke("partner", 2))).toMatchObject({ revokedAtMs: 2 });
    expect(keys.find(digestOf(key))).toBeUndefined();
    db.close();
  });

  test("are nowhere in the database's files, only their digests are", () => {
    const file = join(temporaryDirectory(), "service.db");
    const db = openServiceDatabase(file);
    const key = createKeyStore(db).add(partner, 1) ?? "";
    db.pragma("wal_checkpoint(TRUNCATE)");
    db.close();
    const bytes = readFileSync(file);
    expect(bytes.includes(digestOf(key))).toBe(true);
    expect(bytes.includes(key)).toBe(false);
    expect(bytes.includes(key.slice("swapd_".length))).toBe(false);
  });

  test("have one name each while they are in force, and are revoked by name or id, once", () => {
    const file = join(temporaryDirectory(), "service.db");
    withKeyStore(file, (keys) => {
      expect(keys.add(partner, 1)).toBeDefined();
      expect(keys.add(partner, 2)).toBeUndefined();
      const [row] = keys.list();
      expect(keys.revoke(row?.id ?? "", 3)).toMatchObject({ name: "partner", revokedAtMs: 3 });
      expect(keys.revoke(row?.id ?? "", 4)).toBeUndefined();
      expect(keys.revoke("nobody", 4)).toBeUndefined();
      expect(keys.add(partner, 5)).toBeDefined();
      expect(keys.list().map(({ revokedAtMs }) => revokedAtMs)).toEqual([3, null]);
    });
  });
});

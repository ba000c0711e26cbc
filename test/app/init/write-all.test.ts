import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isInterrupted, type PlannedFile, recoverInit, writeAll } from "../../../src/app/init/write-all.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const OLD: Readonly<Record<string, string>> = { "policy.yaml": "old policy\n", "swapd.yaml": "old main\n" };
const NEW: Readonly<Record<string, string>> = {
  "rpc.url": "https://node.example/key\n",
  "strategies/buy-weth.yaml": "new strategy\n",
  "policy.yaml": "new policy\n",
  "swapd.yaml": "new main\n",
};

function folderWith(texts: Readonly<Record<string, string>>): string {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, "strategies"));
  for (const [path, text] of Object.entries(texts)) writeFileSync(join(folder, path), text);
  return folder;
}

function planned(before: Readonly<Record<string, string>>): readonly PlannedFile[] {
  return Object.entries(NEW).map(([path, text]) => {
    return { path, text, mode: path === "rpc.url" ? 0o600 : 0o644, before: before[path] };
  });
}

function texts(folder: string): Record<string, string> {
  const paths = Object.keys(NEW).filter((path) => existsSync(join(folder, path)));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

class Killed extends Error {}

function killedBefore(folder: string, path: string, before: Readonly<Record<string, string>>): void {
  const kill = (one: string): void => {
    if (one === path) throw new Killed();
  };
  expect(() => writeAll(folder, planned(before), kill)).toThrow(Killed);
}

test("all files are written, each with its permissions, and nothing is left beside them", () => {
  const folder = folderWith(OLD);
  expect(writeAll(folder, planned(OLD))).toEqual({ written: Object.keys(NEW), left: [] });
  expect(texts(folder)).toEqual(NEW);
  expect(statSync(join(folder, "rpc.url")).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).sort()).toEqual(["policy.yaml", "rpc.url", "strategies", "swapd.yaml"]);
});

test.each(Object.keys(NEW))("a kill before %s is moved is finished by the next init, whatever was there", (path) => {
  for (const before of [OLD, {}]) {
    const folder = folderWith(before);
    killedBefore(folder, path, before);
    expect(isInterrupted(folder)).toBe(true);
    expect(recoverInit(folder)).toEqual({ written: Object.keys(NEW), left: [] });
    expect(texts(folder)).toEqual(NEW);
    expect(isInterrupted(folder)).toBe(false);
    expect(recoverInit(folder)).toBeUndefined();
  }
});

test("a kill before all files were on the disk leaves what was there", () => {
  const folder = folderWith(OLD);
  mkdirSync(join(folder, ".swapd-init"));
  writeFileSync(join(folder, ".swapd-init", "0"), "half of a fi");
  expect(isInterrupted(folder)).toBe(false);
  expect(recoverInit(folder)).toBeUndefined();
  expect(texts(folder)).toEqual(OLD);
  expect(existsSync(join(folder, ".swapd-init"))).toBe(false);
});

test("what somebody changed between a kill and the next init is left, and the new text stands beside it", () => {
  const folder = folderWith(OLD);
  killedBefore(folder, "policy.yaml", OLD);
  writeFileSync(join(folder, "policy.yaml"), "mine\n");
  expect(recoverInit(folder)).toMatchObject({ left: ["policy.yaml"] });
  expect(texts(folder)).toEqual({ ...NEW, "policy.yaml": "mine\n" });
  expect(readFileSync(join(folder, "policy.yaml.new"), "utf8")).toBe(NEW["policy.yaml"]);
});

test("a file that a link leads to gets the new text, also after a kill, and the link stays one", () => {
  for (const isKilled of [false, true]) {
    const [folder, elsewhere] = [folderWith(OLD), temporaryDirectory()];
    const kept = join(elsewhere, "swapd.yaml");
    renameSync(join(folder, "swapd.yaml"), kept);
    symlinkSync(kept, join(folder, "swapd.yaml"));
    if (isKilled) killedBefore(folder, "swapd.yaml", OLD);
    const placed = isKilled ? recoverInit(folder) : writeAll(folder, planned(OLD));
    expect(placed).toEqual({ written: Object.keys(NEW), left: [] });
    expect(lstatSync(join(folder, "swapd.yaml")).isSymbolicLink()).toBe(true);
    expect([readFileSync(kept, "utf8"), readdirSync(elsewhere)]).toEqual([NEW["swapd.yaml"], ["swapd.yaml"]]);
  }
});

/** Only root can make a file of somebody else's. */
const isRoot = process.getuid?.() === 0;

test.runIf(isRoot)("what root writes over another user's file stays that user's", () => {
  const folder = folderWith(OLD);
  chownSync(join(folder, "swapd.yaml"), 65_534, 65_533);
  writeAll(folder, planned(OLD));
  expect(readFileSync(join(folder, "swapd.yaml"), "utf8")).toBe(NEW["swapd.yaml"]);
  expect(statSync(join(folder, "swapd.yaml"))).toMatchObject({ uid: 65_534, gid: 65_533 });
});

import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { replaceFile, writeNewFile } from "../../src/app/new-file.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

test("a file is replaced as a whole, with its permissions, through a link, and nothing stays beside it", () => {
  const folder = temporaryDirectory();
  const [file, link] = [join(folder, "swapd.yaml"), join(folder, "link.yaml")];
  writeFileSync(file, "old");
  chmodSync(file, 0o640);
  symlinkSync(file, link);
  expect(replaceFile(link, { before: "old", after: "new" })).toBeUndefined();
  expect(readFileSync(file, "utf8")).toBe("new");
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(readdirSync(folder).sort()).toEqual(["link.yaml", "swapd.yaml"]);
});

test("what somebody else wrote meanwhile is left as it is", () => {
  const file = join(temporaryDirectory(), "swapd.yaml");
  writeFileSync(file, "theirs");
  expect(replaceFile(file, { before: "old", after: "new" })).toContain("was changed by somebody else meanwhile");
  expect(readFileSync(file, "utf8")).toBe("theirs");
});

test("a new file never stands in the place of one that is there", () => {
  const file = join(temporaryDirectory(), "wallet.json");
  writeNewFile(file, "a key", 0o600);
  expect(() => writeNewFile(file, "another", 0o600)).toThrow("EEXIST");
  expect(readFileSync(file, "utf8")).toBe("a key");
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

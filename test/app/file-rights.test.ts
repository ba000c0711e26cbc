import { chmodSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Asking, rightsOfOthers } from "../../src/app/file-rights.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const FILE = "wallet.pass";
const SPACED = "my wallet.pass";

/** What is said of a file of this process's user with these rights, to somebody. */
function saidTo(mode: number, asking: (own: Asking) => Asking, name = FILE): string | undefined {
  const file = join(temporaryDirectory(), name);
  writeFileSync(file, "secret");
  chmodSync(file, mode);
  const { uid, gid } = statSync(file);
  const said = rightsOfOthers(file, asking({ uid, groups: [gid] }));
  return said && `${said.rights} ${said.command.replaceAll(file, name)}`;
}

const owner = (own: Asking): Asking => own;
const ofItsGroup = ({ uid, groups }: Asking): Asking => ({ uid: uid + 1, groups });
const stranger = ({ uid, groups: [gid = 0] }: Asking): Asking => ({ uid: uid + 1, groups: [gid + 1] });

test.each<[string, number, (own: Asking) => Asking, string | undefined]>([
  ["its owner alone reads it", 0o600, owner, undefined],
  ["its owner lets a group read it", 0o640, owner, "0640 chmod 600 wallet.pass"],
  ["everybody reads it", 0o644, owner, "0644 chmod 600 wallet.pass"],
  ["another one, as a cluster does, gave it to our group", 0o440, ofItsGroup, undefined],
  ["another one gave it to our group and everybody", 0o644, ofItsGroup, "0644 chmod o= wallet.pass"],
  ["we read it as everybody does", 0o644, stranger, "0644 chown UID wallet.pass && chmod 600 wallet.pass"],
])("where %s, nothing is advised that would take it from us", (_what, mode, asking, said) => {
  const { uid } = asking({ uid: process.geteuid?.() ?? 0, groups: [0] });
  expect(saidTo(mode, asking)).toBe(said?.replace("UID", String(uid)));
});

test.each<[(own: Asking) => Asking, string]>([
  [owner, "0644 chmod 600 'my wallet.pass'"],
  [stranger, "0644 chown UID 'my wallet.pass' && chmod 600 'my wallet.pass'"],
])("names a file as a shell reads it", (asking, said) => {
  const { uid } = asking({ uid: process.geteuid?.() ?? 0, groups: [0] });
  expect(saidTo(0o644, asking, SPACED)).toBe(said.replace("UID", String(uid)));
});

import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mountPointsOf } from "../../src/storage/mount-points.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** Mounts are made where no other process sees them: they are gone with the process, however it ends. */
function inItsOwnMounts(script: string, args: readonly string[]) {
  return spawnSync("unshare", ["--mount", "sh", "-ec", script, "sh", ...args], { encoding: "utf8" });
}

/** Root may, but not in every container. */
const mayMount = inItsOwnMounts('mount --bind "$1" "$1"', [import.meta.dirname]).status === 0;

if (!mayMount) console.error("not run: a mount of a database needs the right to mount (root)");

const CLAIM = `
  const { claimDatabase } = await import(process.argv[1]);
  for (const file of process.argv.slice(2)) {
    const claim = claimDatabase(file);
    console.log(claim.kind + " " + (claim.message ?? claim.found));
    if (claim.kind === "claimed") claim.release();
  }
`;

/** What claims of databases say where a mount was made. */
function claimsAfter(mount: string, args: readonly string[], files: readonly string[]): readonly string[] {
  const claimModule = new URL("../../src/storage/claim.ts", import.meta.url).href;
  const script = `${mount}; shift ${args.length}; exec "$@"`;
  const node = [process.execPath, "--input-type=module", "-e", CLAIM, claimModule, ...files];
  const { stdout, stderr, status } = inItsOwnMounts(script, [...args, ...node]);
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return stdout.trimEnd().split("\n");
}

test("mount points are read with what their names may hold, and lines that are none are left out", () => {
  const mounts = [
    "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw",
    "41 22 254:0 /home/me/swapd.db /data/swapd.db rw,relatime shared:1 master:2 - ext4 /dev/vda rw",
    String.raw`42 22 254:0 /a\040b /my\040data/tab\011/line\012/\043 rw - ext4 /dev/vda rw`,
    String.raw`43 22 254:0 /a /back\134040slash/für rw - ext4 /dev/vda rw`,
    "44 22",
    "",
  ];
  expect(mountPointsOf(mounts.join("\n"))).toEqual([
    ...["/", "/data/swapd.db", "/my data/tab\t/line\n/#", String.raw`/back\040slash/für`],
  ]);
  expect(mountPointsOf("")).toEqual([]);
});

test.skipIf(!mayMount)("a database that is mounted by itself is refused: its log and its lock are in no mount", () => {
  const folder = temporaryDirectory();
  const [host, data] = [join(folder, "host"), join(folder, "my data")];
  for (const made of [host, data]) mkdirSync(made);
  for (const name of ["swapd.db", "other.db", "service.db"]) writeFileSync(join(host, name), "");
  symlinkSync("my data/swapd.db", join(folder, "link.db"));
  const mounts = 'mount --bind "$1" "$2"; mount --bind "$1/other.db" "$2/swapd.db"';
  const found = claimsAfter(
    mounts,
    [host, data],
    [
      join(data, "swapd.db"),
      join(folder, "link.db"),
      join(data, "service.db"),
      join(data, "new.db"),
      join(host, "swapd.db"),
    ],
  );
  const refused = expect.stringMatching(
    /^linked .*\/my data\/swapd\.db is mounted by itself: .* mount that at .*\/my data$/,
  );
  expect(found).toEqual([refused, refused, "claimed empty", "claimed missing", "claimed empty"]);
});

test.skipIf(!mayMount)(
  "a folder that was made where the database to mount was missing is told as such a mount, too",
  () => {
    const folder = temporaryDirectory();
    for (const name of ["host.db", "swapd.db"]) mkdirSync(join(folder, name));
    const found = claimsAfter('mount --bind "$1/host.db" "$1/swapd.db"', [folder], [join(folder, "swapd.db")]);
    expect(found).toEqual([expect.stringContaining("is mounted by itself")]);
  },
);

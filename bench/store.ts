import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * What the engine and its store need for the same trades before rows were asked whole and written together, behind a
 * promise (ADR 23), and now: processor time, the two taking turns. `npm run bench -- store [seconds [rounds [commit [other]]]]`
 * takes both trees out of git, the older one as of the last commit with a synchronous store, each with today's packages.
 * Ends with 1 when the median ratio is above the gate. A busy machine moves both.
 */
const SYNCHRONOUS = "7685b18e";
const GATE = 1.1;
const [seconds = "600", rounds = "7", commit = SYNCHRONOUS, other = "HEAD"] = process.argv.slice(2);
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const LIFE = fileURLToPath(new URL("store/life-main.ts", import.meta.url));
const PARTS = ["src", "test/support", "contracts", "package.json"];
interface Took {
  readonly swaps: number;
  readonly cpuMs: number;
}

function takeOut(folder: string, ofCommit: string): string {
  const tree = mkdtempSync(join(folder, "tree-"));
  const tar = execFileSync("git", ["archive", ofCommit, ...PARTS], { cwd: ROOT, maxBuffer: 512 * 1024 * 1024 });
  execFileSync("tar", ["-x", "-C", tree], { input: tar });
  symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"));
  return tree;
}

function takeTurn(tree: string): Took {
  const { status, stdout, stderr } = spawnSync(process.execPath, [LIFE, tree, seconds], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the engine of ${tree} did not trade: ${stderr.slice(-2_000)}`);
  return JSON.parse(stdout) as Took;
}

const folder = mkdtempSync(join(tmpdir(), "swapd-bench-store-"));
const rows: { swaps: string; beforeMs: number; nowMs: number; ratio: number }[] = [];
try {
  const trees = { before: takeOut(folder, commit), now: takeOut(folder, other) };
  for (let round = 0; round < Number(rounds); round += 1) {
    const [first, second] = round % 2 === 0 ? (["before", "now"] as const) : (["now", "before"] as const);
    const took = { [first]: takeTurn(trees[first]), [second]: takeTurn(trees[second]) } as Record<string, Took>;
    const { before, now } = took;
    if (before === undefined || now === undefined) throw new Error("a turn is missing");
    const ratio = Math.round((1_000 * (now.cpuMs / now.swaps)) / (before.cpuMs / before.swaps)) / 1_000;
    rows.push({ swaps: `${before.swaps}, ${now.swaps}`, beforeMs: before.cpuMs, nowMs: now.cpuMs, ratio });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const median = rows.map(({ ratio }) => ratio).sort((a, b) => a - b)[Math.floor(rows.length / 2)] ?? Number.NaN;
console.table(rows);
console.log(JSON.stringify({ bench: "store", gates: { ratio: GATE }, median, rows }));
process.exit(median <= GATE ? 0 : 1);

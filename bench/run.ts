import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** `npm run bench [name] [arguments]`: one benchmark, or all of them one after the other; each prints a table and JSON. */
const [name, ...rest] = process.argv.slice(2);
const known = readdirSync(new URL(".", import.meta.url))
  .filter((file) => file.endsWith(".ts") && file !== "run.ts")
  .map((file) => file.slice(0, -".ts".length));

if (name !== undefined && !known.includes(name)) {
  console.error(`no benchmark ${JSON.stringify(name)}; there are ${known.join(", ")}`);
  process.exit(2);
}

let failed = 0;
for (const bench of name === undefined ? known : [name]) {
  const file = fileURLToPath(new URL(`${bench}.ts`, import.meta.url));
  if (spawnSync(process.execPath, [file, ...rest], { stdio: "inherit" }).status !== 0) failed += 1;
}
process.exit(failed === 0 ? 0 : 1);

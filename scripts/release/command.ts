import { spawnSync } from "node:child_process";

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * Runs a program to its end.
 * @returns what it printed
 * @throws with its own words when it does not end well
 */
export function run(program: string, args: readonly string[], cwd: string): string {
  const ended = spawnSync(program, args, { cwd, encoding: "utf8", maxBuffer: MAX_OUTPUT_BYTES });
  if (ended.status === 0) return ended.stdout;
  const why = ended.error?.message ?? `it ended with ${ended.status ?? ended.signal}\n${ended.stderr}${ended.stdout}`;
  throw new Error(`\`${program} ${args.join(" ")}\` did not work: ${why}`);
}

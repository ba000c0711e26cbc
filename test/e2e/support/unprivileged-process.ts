import { runCli } from "../../../src/app/cli.ts";
import "../../../src/app/commands/init.ts";
import "../../../src/app/commands/live.ts";

/** An account that owns nothing. */
const NOBODY = 65_534;

// Runs swapd without the right to write where others own: whoever builds in a container is root, whom no permission stops.
// Everything is loaded before, because the program's own files may be nobody's to read.
if (process.geteuid?.() === 0) {
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}
process.exitCode = await runCli(process.argv);

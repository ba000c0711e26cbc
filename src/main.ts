import { runCli } from "./app/cli.ts";
import { outliveReader } from "./app/terminal.ts";

for (const stream of [process.stdout, process.stderr]) outliveReader(stream);

// A connection attempt without an answer would keep the process for seconds after its work is done.
process.exit(await runCli(process.argv));

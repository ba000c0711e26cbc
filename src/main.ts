import { runCli } from "./app/cli.ts";
import { EXIT } from "./app/exit-codes.ts";
import { outliveReader, outputTrouble, processTerminal, readToItsEnd } from "./app/terminal.ts";

const streams = [process.stdout, process.stderr];
for (const stream of streams) outliveReader(stream);

const exitCode = await runCli(process.argv);
const trouble = outputTrouble();
if (trouble !== undefined) processTerminal.err(trouble);
// What a pipe has no room for waits in this process, and its exit would cut it off.
await Promise.all(streams.map(readToItsEnd));
// A connection attempt without an answer would keep the process for seconds after its work is done.
process.exit(trouble === undefined || exitCode !== EXIT.ok ? exitCode : EXIT.no);

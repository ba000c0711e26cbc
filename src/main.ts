import { runCli } from "./app/cli.ts";

process.exitCode = await runCli(process.argv);

import { runCli } from "./app/cli.ts";

// Idle connections to services and nodes would keep the process for seconds after its work is done.
process.exit(await runCli(process.argv));

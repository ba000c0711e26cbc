/** A process of its own that starts a sandbox in the directory given, says where, and stays: to be killed by a test. */
import { startSandbox } from "../../src/sandbox/sandbox.ts";

const directory = process.argv[2];
if (directory === undefined) throw new Error("usage: sandbox-process.ts <directory>");
// As the daemon does: ctrl-C is no reason to die at once.
process.on("SIGINT", () => process.stdout.write("interrupted\n"));
const { world } = await startSandbox({ directory, port: 0, blockTimeSeconds: 1, seed: 1, market: false });
process.stdout.write(`${world.rpcUrl}\n`);

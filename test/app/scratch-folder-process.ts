import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openScratchFolder } from "../../src/app/scratch-folder.ts";

/** Opens a scratch folder with a file in it and waits; with "listens" it ends by itself when it is asked to. */
const scratch = openScratchFolder("swapd-scratch-");
writeFileSync(join(scratch.path, "rpc.url"), "http://host/secret", { mode: 0o600 });
const waiting = setInterval(() => undefined, 60_000);
if (process.argv.includes("listens")) {
  process.once("SIGINT", () => {
    scratch.remove();
    console.log("cleaned up");
    clearInterval(waiting);
  });
}
if (process.argv.includes("removes")) scratch.remove();
console.log(scratch.path);

/** A process of its own in which something breaks that nobody waits for. */
import { endOnUncaught } from "../../src/app/end-on-uncaught.ts";

const [how, code] = process.argv.slice(2);
const broken = Object.assign(new TypeError("broke at https://node.example/key"), { code });
const terminal = { err: (text: string) => void process.stderr.write(`${text}\n`) };
endOnUncaught((text) => text.replace("https://node.example/key", "node.example"), terminal);
setTimeout(() => process.exit(0), 10_000);
if (how === "promise") void Promise.reject(broken);
else
  setTimeout(() => {
    throw broken;
  }, 1);

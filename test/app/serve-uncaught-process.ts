/** A service in a process of its own in which something breaks that nobody waits for. */
import { serve } from "../../src/app/commands/serve.ts";

const [database = "", code] = process.argv.slice(2);
const given = [
  { flag: "network", value: "ethereum" },
  { flag: "rpc", value: "http://127.0.0.1:1/the-secret-part-of-it" },
] as const;
const terminal = {
  out: () => {
    setTimeout(() => {
      throw Object.assign(new TypeError("broke at http://127.0.0.1:1/the-secret-part-of-it"), { code });
    }, 1);
  },
  err: (text: string) => void process.stderr.write(`${text}\n`),
};
await serve({ given: [...given], listen: "127.0.0.1:0", database, for: 60_000 }, terminal as never);

import { saturate } from "./saturating-client.ts";

/** One of several processes on one key: the options are JSON in the first argument; prints what it saw as JSON. */
console.log(JSON.stringify(await saturate(JSON.parse(process.argv[2] ?? "{}"))));

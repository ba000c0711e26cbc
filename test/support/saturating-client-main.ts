import { saturate } from "./saturating-client.ts";

/** One of several processes on one key: the options are JSON in the first argument. */
await saturate(JSON.parse(process.argv[2] ?? "{}"));

import { basename } from "node:path";
import { writeJsonSchema } from "../../config/json-schemas.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { jsonSchemas } from "../load-configuration.ts";
import type { Terminal } from "../terminal.ts";

/** Of `config/policy.schema.json` it is `policy`. */
function nameOf(path: string): string {
  return basename(path, ".schema.json");
}

/** `swapd schema [name]`: the JSON Schemas of the files that people write, for their editors. */
export function schema(name: string | undefined, terminal: Terminal): void {
  const schemas = jsonSchemas();
  if (name === undefined) {
    terminal.out(Object.keys(schemas).join("\n"));
    return;
  }
  const found = Object.entries(schemas).find(([path]) => path.endsWith(`${name}.schema.json`));
  if (found === undefined) {
    throw new CommandFailure(
      EXIT.usage,
      `no schema ${JSON.stringify(name)}; there are ${Object.keys(schemas).map(nameOf).join(", ")}`,
    );
  }
  terminal.out(writeJsonSchema(found[1]).trimEnd());
}

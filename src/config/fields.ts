import { getAddress } from "ethers";
import { z } from "zod";
import { type Address, parseAddress, toAddress } from "../domain/money/address.ts";
import { type Complaint, wrong } from "./complaint.ts";
import { unwrap } from "./schema-tree.ts";

/** Fields that several files share. */

/** Turns a reading of a value, which may complain of it, into a step of a schema. */
export function readAs<In, Out>(read: (value: In) => Out | Complaint) {
  return (value: In, context: z.core.$RefinementCtx): Out => {
    const out = read(value);
    if (!isComplaint(out)) return out;
    context.addIssue({ code: "custom", message: out.message, params: { suggestion: out.suggestion } });
    return z.NEVER;
  };
}

/** Whether a reading came to a complaint. */
export function isComplaint<Out>(out: Out | Complaint): out is Complaint {
  return typeof out === "object" && out !== null && "message" in out;
}

/** Where a secret is to be found. The secret itself never stands in a configuration file. */
export type SecretReference = { readonly file: string } | { readonly env: string };

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const REFERENCE_FORM = "{ env: NAME } or { file: path }";

/** An Ethereum address in quotes. Mixed case must carry a right checksum (EIP-55). */
export function address(description: string) {
  return z
    .string({ error: () => 'needs an address in quotes: "0x..."' })
    .meta({ description, pattern: "^0x[0-9a-fA-F]{40}$" })
    .transform(readAs(readAddress));
}

function readAddress(text: string): Address | Complaint {
  const shown = text.length > 50 ? "is" : `"${text}" is`;
  if (parseAddress(text) === undefined)
    return wrong`${shown} no address -> an address is 0x and 40 hexadecimal digits, in quotes`;
  const lower = text.toLowerCase();
  const right = getAddress(lower);
  if (text === lower || text.slice(2) === lower.slice(2).toUpperCase() || text === right) return toAddress(text);
  return wrong`the checksum of address "${text}" is wrong: a digit may be mistyped -> copy it again from its source; with this checksum it would be "${right}"`;
}

/** A reference to a secret: `{ env: NAME }` or `{ file: path }`. */
export function secretReference(description: string) {
  return z
    .strictObject(
      {
        env: z.string().optional().meta({ description: "name of an environment variable", pattern: ENV_NAME.source }),
        file: z.string().min(1).optional().meta({ description: "path of a file, relative to this file" }),
      },
      { error: (issue) => (issue.code === "invalid_type" ? secretInPlace() : undefined) },
    )
    .meta({ description })
    .transform(readAs(readReference));
}

function readReference({ env, file }: { env?: string | undefined; file?: string | undefined }) {
  if (env !== undefined && file === undefined && ENV_NAME.test(env)) return { env };
  if (file !== undefined && env === undefined) return { file };
  const what =
    file === undefined && env !== undefined
      ? "this is no name of an environment variable"
      : "needs one of env and file";
  return wrong`${what} -> write ${REFERENCE_FORM}`;
}

function secretInPlace(): string {
  return `needs a reference: ${REFERENCE_FORM}; a secret must not be in a configuration file`;
}

/** A map of known keys, and what it is for. */
export function map<Shape extends z.core.$ZodShape>(description: string, shape: Shape) {
  return z.strictObject(shape).meta({ description });
}

/** A map that may be left out. */
export function maybeMap<Shape extends z.core.$ZodShape>(description: string, shape: Shape) {
  return maybe(z.strictObject(shape), description);
}

/** A key that may be left out, and what it is for. */
export function maybe<Schema extends z.ZodType>(schema: Schema, description: string) {
  return schema.optional().meta({ description });
}

/** A key that may be left out, and what it is then. */
export function or<Schema extends z.ZodType>(schema: Schema, value: NoInfer<z.output<Schema>>, description?: string) {
  return describe(schema.optional(), description).transform((written): z.output<Schema> => written ?? value);
}

/** A key that may be left out, and is what its example says then. */
export function orExample<Schema extends z.ZodType>(schema: Schema) {
  const [example] = (unwrap(schema).meta()?.examples ?? []) as readonly unknown[];
  return or(schema, schema.parse(example) as NoInfer<z.output<Schema>>);
}

/** A map of keys that may be left out, each with its own value then. */
export function orEmpty<Shape extends z.core.$ZodShape>(description: string | undefined, shape: Shape) {
  const schema = z.strictObject(shape);
  return or(schema, schema.parse({}) as NoInfer<z.output<typeof schema>>, description);
}

function describe<Schema extends z.ZodType>(schema: Schema, description: string | undefined): Schema {
  return description === undefined ? schema : schema.meta({ description });
}

/** A name of the user's own. */
export const name = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, { error: "a name is lower-case letters, digits and hyphens, for example main" });

/** true or false, with a word for those who write yes or on. */
export function flag(description: string) {
  return z
    .boolean({
      error: (issue) =>
        typeof issue.input === "string" && /^(?:yes|no|on|off|y|n)$/i.test(issue.input)
          ? `"${issue.input}" is a text in YAML 1.2: write ${/^(?:yes|on|y)$/i.test(issue.input) ? "true" : "false"}`
          : "needs true or false",
    })
    .meta({ description });
}

/** A whole number within bounds. */
export function count(description: string, limits: { readonly min: number; readonly max: number }) {
  const message = `needs a whole number from ${limits.min} to ${limits.max}`;
  const isQuoted = (input: unknown): boolean => typeof input === "string" && /^[0-9]+$/.test(input);
  return z
    .int({ error: ({ input }) => (isQuoted(input) ? `${message}, without quotes: ${input}` : message) })
    .min(limits.min, { error: message })
    .max(limits.max, { error: message })
    .meta({ description });
}

/** A text that is not empty. */
export function text(description: string, example: string) {
  return z
    .string({ error: `needs a text, for example "${example}"` })
    .min(1, { error: "is empty" })
    .max(1_024, { error: "is longer than 1,024 characters" })
    .meta({ description, examples: [example] });
}

/** Names of this machine. */
export const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Host and port: 127.0.0.1:9464 or [::1]:9464. Port 0 takes a free one. */
export interface Listen {
  readonly host: string;
  readonly port: number;
}

/** An address to listen on. */
export function listen(description: string) {
  return text(description, "127.0.0.1:9464").transform(readAs(readListen));
}

function readListen(value: string): Listen | Complaint {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([A-Za-z0-9.-]+)):([0-9]{1,5})$/.exec(value);
  const port = Number(match?.[3] ?? Number.NaN);
  const host = match?.[1] ?? match?.[2];
  if (host !== undefined && port <= 65_535) return { host, port };
  return wrong`"${value}" is no host and port -> write for example 127.0.0.1:9464`;
}

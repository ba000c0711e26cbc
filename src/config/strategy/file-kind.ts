import type { z } from "zod";
import type { StrategySpec } from "../../domain/strategy/spec.ts";
import { checkShape } from "../check-shape.ts";
import type { StrategyFile } from "./scope.ts";

/** One kind of strategy file: the schema of its keys, and how a strategy is built from them. */
export interface FileKind {
  readonly schema: z.ZodObject;
  /** @returns undefined when something of it is broken; then `file.problems` say what */
  build(file: StrategyFile, id: string): StrategySpec | undefined;
}

/** Binds a schema to its builder. The builder gets the keys that are in order; problems of the others are told already. */
export function fileKind<Schema extends z.ZodObject>(
  schema: Schema,
  build: (file: StrategyFile, id: string, fields: Partial<z.output<Schema>>) => StrategySpec | undefined,
): FileKind {
  return {
    schema,
    build: (file, id) => {
      const { values, problems } = checkShape(schema, file.source);
      file.problems.push(...problems);
      return build(file, id, values);
    },
  };
}

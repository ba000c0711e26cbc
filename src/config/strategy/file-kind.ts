import type { z } from "zod";
import type { StrategySpec } from "../../domain/strategy/spec.ts";
import { checkShape, type Keys } from "../check-shape.ts";
import type { Part } from "../complaint.ts";
import type { StrategyFile } from "./scope.ts";

/** One kind of strategy file: the schema of its keys, and how a strategy is built from them. */
export interface FileKind {
  readonly schema: z.ZodObject;
  /** @returns undefined when something of it is broken; then it complained of that */
  build(file: StrategyFile, id: string): Part<StrategySpec>;
}

/** Binds a schema to its builder. */
export function fileKind<Schema extends z.ZodObject>(
  schema: Schema,
  build: (file: StrategyFile, id: string, keys: Keys<Schema>) => Part<StrategySpec>,
): FileKind {
  return {
    schema,
    build: function* (file, id) {
      const keys = yield* checkShape(schema, file.data);
      return yield* build(file, id, keys);
    },
  };
}

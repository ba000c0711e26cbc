import { mainSchema } from "./schemas/main-schema.ts";

const { timing, serve, http, database } = mainSchema.shape;

/** What a main file comes to that says nothing of these; for those who run without one. */
export const DEFAULTS = {
  timing: timing.parse(undefined),
  serve: serve.parse(undefined),
  listen: http.parse(undefined).listen,
  database: database.parse(undefined),
} as const;

/** Bounds of what is read at all. */
export const CONFIG_BOUNDS = {
  maxFileBytes: 256 * 1_024,
  maxStrategies: 20_000,
  /** each has a sender of its own */
  maxChannels: 16,
  /** an answer of the service or of a node is never read beyond this */
  maxAnswerBytes: 4 * 1_024 * 1_024,
} as const;

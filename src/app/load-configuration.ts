import { dirname } from "node:path";
import { accountOfKey } from "../adapters/keys/private-key.ts";
import { CHANNEL_BOOK } from "../adapters/notify/channels.ts";
import { SERVICE_BOOK } from "../adapters/swap-service/services.ts";
import { createIntlZones } from "../adapters/zones/intl-zones.ts";
import { type JsonSchema, jsonSchemas as schemasFor } from "../config/json-schemas.ts";
import {
  type LoadOptions,
  type LoadOutcome,
  loadConfiguration as loadAtOnce,
  loadInSlices as loadSlowly,
} from "../config/load-configuration.ts";
import { makeProblem } from "../config/problem.ts";
import { kindProblem } from "../service/pools/kinds.ts";
import { isInterrupted } from "./init/write-all.ts";

// The configuration with the swap services that this program speaks to, the kinds of channels that it notifies people by, the
// kinds of pools that its own service knows, the accounts of keys as their signers have them, and the platform's time zones.

const KNOWN = { services: SERVICE_BOOK, channels: CHANNEL_BOOK, kindProblem, accountOfKey, zones: createIntlZones() };

type Options = Omit<LoadOptions, keyof typeof KNOWN>;
type Environment = Parameters<typeof loadAtOnce>[1];

/** Reads the main file and all files it names, and reports everything that is wrong with them. */
export function loadConfiguration(path: string, env: Environment, options: Options = {}): LoadOutcome {
  return halfWritten(path) ?? loadAtOnce(path, env, { ...options, ...KNOWN });
}

/** The same for a daemon at work, which does something else between two files. */
export async function loadInSlices(path: string, env: Environment, options: Options = {}): Promise<LoadOutcome> {
  return halfWritten(path) ?? (await loadSlowly(path, env, { ...options, ...KNOWN }));
}

/** Files of which some may be new and others old say together what nobody wrote. */
function halfWritten(path: string): LoadOutcome | undefined {
  if (!isInterrupted(dirname(path))) return undefined;
  const message = "`swapd init` was interrupted in this folder between two files";
  const suggestion = "run `swapd init` here again: it finishes that first";
  return { ok: false, problems: [makeProblem({ file: path, text: "" }, { message, suggestion })] };
}

/** The JSON Schemas of the configuration files, by the path from the project's root at which each is kept. */
export function jsonSchemas(): Readonly<Record<string, JsonSchema>> {
  return schemasFor(KNOWN);
}

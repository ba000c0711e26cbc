import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Configuration } from "../config/configuration.ts";
import { hasCode } from "../storage/private-file.ts";
import type { Finding } from "./finding.ts";
import { whyNoRights } from "./no-rights.ts";

/** That who checks could write databases and markers where a start puts them. Nothing is made. */
export function checkPlaces({ database, identity, service, serve, mode }: Configuration): readonly Finding[] {
  const isEmbedded = service.url === "embedded";
  return [
    ...findingOf("database", database, whyNoDatabase(database)),
    ...(isEmbedded ? findingOf("serve.database", serve.database, whyNoDatabase(serve.database)) : []),
    // On paper no markers are written.
    ...(mode === "paper" ? [] : findingOf("identity", identity, whyNoFolder(nearest(identity)))),
  ];
}

function findingOf(what: string, path: string, why: string | undefined): readonly Finding[] {
  if (why === undefined) return [];
  const whatToDo = `set that right, or name another place as \`${what}\``;
  return [{ what, found: `no start can write ${path}: ${why}`, whatToDo }];
}

/** Its folder has to be there: who makes it could be making it where a volume is missing. */
function whyNoDatabase(file: string): string | undefined {
  return whyNoFolder(dirname(file)) ?? whyNoRights(file, "write");
}

/** A start makes the folder of the markers, and those above it. */
function nearest(folder: string): string {
  return existsSync(folder) || folder === dirname(folder) ? folder : nearest(dirname(folder));
}

function whyNoFolder(folder: string): string | undefined {
  if (!existsSync(folder)) {
    const missing = `the folder ${folder} does not exist: make it, or mount what belongs there`;
    return whyNoRights(folder, "read") ?? missing;
  }
  if (!statSync(folder).isDirectory()) return `${folder} is no folder`;
  return whyNoRights(folder, "write") ?? whyReadOnly(folder);
}

function whyReadOnly(folder: string): string | undefined {
  try {
    accessSync(folder, constants.W_OK);
    return undefined;
  } catch (error) {
    if (!hasCode(error, ["EROFS"])) throw error;
    return `${folder} is mounted to be read only`;
  }
}

import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { listFolder } from "../../config/files.ts";
import { isStrategyFile } from "../../config/load-strategies.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { MAIN_FILE } from "./files.ts";

/**
 * Init writes and changes `swapd.yaml` alone: a main file of another name is not the one that would be changed, and one
 * beside it would share its strategies and databases.
 * @param dir what `--dir` says; one that is named by it, and has its own main file, is what is meant
 * @throws CommandFailure with what to do
 */
export function refuseOtherMain(folder: string, dir: string | undefined, env: NodeJS.ProcessEnv): void {
  const named = env.SWAPD_CONFIG ?? "";
  const name = basename(named);
  if (named === "" || name === MAIN_FILE || dirname(resolve(named)) !== folder) return;
  const isBeside = existsSync(named) && !existsSync(join(folder, MAIN_FILE));
  if (dir !== undefined && !isBeside) return;
  throw new CommandFailure(
    EXIT.no,
    `SWAPD_CONFIG names ${named}, and init changes only a ${MAIN_FILE}: edit ${name} by hand, then look with swapd check; ` +
      "for another configuration name a folder of its own with --dir: nothing was written",
  );
}

/**
 * A new configuration goes beside no strategies: a daemon that runs them would trade the one that is added.
 * @throws CommandFailure that names them
 */
export function refuseStrategies(folder: string): void {
  const place = join(folder, "strategies");
  const listed = listFolder(place);
  const strategies = "problem" in listed ? [] : listed.names.filter(isStrategyFile);
  if (strategies.length === 0) return;
  throw new CommandFailure(
    EXIT.no,
    `${place} has strategies without a ${MAIN_FILE} (${strategies.join(", ")}), and a daemon that runs them would trade ` +
      "another one beside them: name another folder with --dir: nothing was written",
  );
}

import { resolve } from "node:path";
import { inShell } from "./in-shell.ts";
import { configurationFile, type Target } from "./target.ts";

/** Commands that change something take the sandbox only by name. */
const CHANGES = /^swapd (?:resume|allowances revoke|tx cancel)\b/;
/** It has no configuration to name: a sandbox is started by its own command. */
const STARTS = "swapd start";

/** A command as it has to be typed here: for the configuration that was named, else for the target's own. */
export function typed(command: string, target: Target, config?: string): string {
  if (target.kind === "sandbox") {
    if (command === STARTS) return "swapd sandbox";
    return CHANGES.test(command) ? `${command} --sandbox` : command;
  }
  if (config !== undefined) return `${command} --config ${inShell(config)}`;
  return `${command}${configFlag(target.kind === "broken" ? target.file : target.configuration.file)}`;
}

/** What names a configuration to a command; nothing where it is the one that is meant without a name. */
export function configFlag(file: string): string {
  return resolve(configurationFile({})) === file ? "" : ` --config ${inShell(file)}`;
}

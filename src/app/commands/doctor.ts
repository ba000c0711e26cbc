import type { Diagnosis, DiagnosisState } from "../doctor/diagnosis.ts";
import { examine } from "../doctor/examine.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { inShell } from "../in-shell.ts";
import { configurationOf, findTarget, nameTarget, type Target } from "../target.ts";
import { formatTable, type Terminal } from "../terminal.ts";

const SHOWN: Readonly<Record<DiagnosisState, string>> = {
  ok: "ok",
  warning: "warning",
  error: "ERROR",
  "not tried": "not tried",
};

/**
 * `swapd doctor`: all that can be looked at, in one answer, each with the command that mends it. Ends with 1 when anything
 * is an error; a warning, or what could not be tried, ends with 0.
 */
export async function doctor(options: { config?: string; json?: boolean }, terminal: Terminal): Promise<void> {
  const target = findTarget(options);
  const found = (await examine(target)).map((one) => ({ ...one, mend: typed(one.mend, options, target) }));
  const count = (state: DiagnosisState): number => found.filter((one) => one.state === state).length;
  const ok = count("error") === 0;
  if (options.json === true) {
    const { configuration } = configurationOf(target);
    const { file, mode, network, database } = configuration;
    const about = { configuration: file, network: network.name, mode, database };
    const findings = found.map(({ mend, ...one }) => ({ ...one, mend: mend ?? null }));
    terminal.out(JSON.stringify({ ok, ...about, findings }));
  } else {
    terminal.out(`looked ${nameTarget(target)}; nothing was written, sent or signed`);
    terminal.out(`\n${table(found)}`);
    const counts = (Object.keys(SHOWN) as DiagnosisState[]).map((state) => `${count(state)} ${state}`);
    terminal.out(`\n${counts.join(", ")}`);
  }
  if (!ok) throw new CommandFailure(EXIT.no, "");
}

function table(found: readonly Diagnosis[]): string {
  return formatTable(
    found.map(({ part, what, state, found: text, mend }, index) => [
      SHOWN[state],
      found[index - 1]?.part === part ? "" : part,
      what,
      state === "ok" || mend === undefined ? text : `${text} -> ${mend}`,
    ]),
  );
}

/** Commands that change something take the sandbox only by name. */
const CHANGES = /^swapd (?:resume|allowances revoke|tx cancel)\b/;
/** It has no configuration to name: a sandbox is started by its own command. */
const STARTS = "swapd start";

/** The command as it has to be typed here: for the configuration that was named. */
function typed(mend: string | undefined, options: { config?: string }, target: Target): string | undefined {
  if (mend === undefined || !mend.startsWith("swapd ")) return mend;
  if (target.kind === "sandbox") {
    if (mend === STARTS) return "swapd sandbox";
    return CHANGES.test(mend) ? `${mend} --sandbox` : mend;
  }
  return options.config === undefined ? mend : `${mend} --config ${inShell(options.config)}`;
}

import type { Diagnosis, DiagnosisState } from "../doctor/diagnosis.ts";
import { examine } from "../doctor/examine.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { configurationOf, findTarget, nameTarget, type Target } from "../target.ts";
import { formatTable, type Terminal } from "../terminal.ts";
import { typed } from "../typed.ts";

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
  const found = (await examine(target)).map((one) => ({ ...one, mend: mendOf(one, target, options) }));
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

/** Commands of ours alone name a configuration. */
function mendOf({ mend }: Diagnosis, target: Target, { config }: { config?: string }): string | undefined {
  return mend?.startsWith("swapd ") === true ? typed(mend, target, config) : mend;
}

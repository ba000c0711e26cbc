/** Commands of swapd, one after the other, of a user who owns nothing: what each says, and its code. */
import { runCli } from "../../src/app/cli.ts";
import "../../src/app/commands/audit.ts";
import "../../src/app/commands/check.ts";
import "../../src/app/commands/backup.ts";
import "../../src/app/commands/db-check.ts";
import "../../src/app/commands/doctor.ts";
import "../../src/app/commands/history.ts";
import "../../src/app/commands/init.ts";
import "../../src/app/commands/live.ts";
import "../../src/app/commands/login.ts";
import "../../src/app/commands/release-relayer.ts";
import "../../src/app/commands/request.ts";
import "../../src/app/commands/status.ts";
import "../../src/app/commands/tx.ts";
import "../../src/app/commands/why.ts";
import "../../src/app/start-trouble.ts";

/** An account that owns nothing. */
const NOBODY = 65_534;

// Everything is loaded before: the program's own files may be nobody's to read.
process.setgroups?.([]);
process.setgid?.(NOBODY);
process.setuid?.(NOBODY);
const answers: { code: number; text: string }[] = [];
for (const command of JSON.parse(process.argv[2] ?? "[]") as string[][]) {
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  const code = await runCli(["node", "swapd", ...command], { out: say, err: say, isInteractive: false });
  answers.push({ code, text: said.join("\n") });
}
process.stdout.write(JSON.stringify(answers));

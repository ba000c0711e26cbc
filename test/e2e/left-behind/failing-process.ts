import { writeFileSync } from "node:fs";
import { afterAll, it, onTestFinished } from "vitest";
import { makeFolder, start } from "../support/swapd.ts";

afterAll(() => {
  throw new Error("a hook fails too, on purpose");
});

it("leaves a sandbox behind, and fails or is killed", async () => {
  const { LEFT_BEHIND_PID_FILE: file = "", LEFT_BEHIND_BY: by } = process.env;
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  const sandbox = start(folder.path, ["sandbox", "--chain-only", "--json", "--port", "0"]);
  await sandbox.firstLine;
  writeFileSync(file, String(sandbox.process.pid));
  if (by === "kill") process.kill(process.pid, "SIGKILL");
  throw new Error("on purpose");
});

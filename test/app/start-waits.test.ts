import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeFolder, run, type Started, start, until } from "../e2e/support/swapd.ts";
import { freePort } from "../support/free-port.ts";

const WITHIN_MS = 60_000;

let folder: ReturnType<typeof makeFolder>;
let file: string;
beforeEach(() => {
  folder = makeFolder();
  file = join(folder.path, "config/swapd.yaml");
});
afterEach(() => folder.remove());

it("ends with 78 where a file must be changed, and says what", async () => {
  writeFileSync(file, "version: 2\n");
  expect(await run(folder.path, ["start", "--config", file])).toMatchObject({
    code: 78,
    err: expect.stringContaining("version"),
  });
});

it("with --wait stays up and unwell, says once what to change, and reads the files again when they change", async () => {
  const port = await freePort();
  const health = `http://127.0.0.1:${port}/healthz`;
  writeFileSync(file, "version: 2\n");
  const daemon = start(folder.path, ["start", "--wait", "--config", file], { SWAPD_HEALTH_URL: health });
  let errors = "";
  daemon.process.stderr?.on("data", (chunk: Buffer) => {
    errors += String(chunk);
  });
  await until("it is unwell", { process: daemon, withinMs: WITHIN_MS }, async () => (await problemAt(health)) !== "");
  expect(await problemAt(health)).toContain("version");
  expect(count(errors, "change that; the daemon waits")).toBe(1);

  writeFileSync(file, "version: 1\nnonsense: true\n");
  const isReadAgain = async (): Promise<boolean> => (await problemAt(health)).includes("nonsense");
  await until("the file is read again", { process: daemon, withinMs: WITHIN_MS }, isReadAgain);
  expect(count(errors, "change that; the daemon waits")).toBe(2);
  await stopped(daemon);
});

/** What the daemon's health says is in the way; empty while nobody answers. */
async function problemAt(health: string): Promise<string> {
  try {
    const answer = await fetch(health);
    expect(answer.status).toBe(503);
    return String(((await answer.json()) as { problem: unknown }).problem);
  } catch (error) {
    if (error instanceof TypeError) return "";
    throw error;
  }
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

async function stopped(daemon: Started): Promise<void> {
  daemon.process.kill("SIGTERM");
  expect((await daemon.ended).code).toBe(0);
}

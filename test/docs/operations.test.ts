import { createHmac, timingSafeEqual } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { webhook } from "../../src/adapters/notify/channels/webhook.ts";
import { runCli } from "../../src/app/cli.ts";
import { DENIALS } from "../../src/domain/guard/denial.ts";
import { ALERT_CODES } from "../../src/domain/run/alert-codes.ts";
import { startReceiver } from "../support/alert-receiver.ts";
import { channelMessage, sendBy, sendingOf } from "../support/channel-messages.ts";

/** Parts of docs/OPERATIONS.md that a reader copies or looks up, checked against the program. */

const page = readFileSync("docs/OPERATIONS.md", "utf8");
const section = (title: string): string => page.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";

const SECRET = "0123456789abcdef-alert-secret";

async function received() {
  const { url, received: all } = await startReceiver();
  await sendBy(webhook, { url, secret: SECRET }, channelMessage(), sendingOf({ nowMs: Date.now() }));
  const [first] = all;
  if (first === undefined) throw new Error("nothing came");
  return first;
}

test("the receiver that the page shows takes our alerts, and neither altered nor old nor unsigned ones", async () => {
  const { body, headers } = await received();
  const header = String(headers["swapd-signature"]);
  const [, code = ""] = /```js\nimport [^\n]+\n([\s\S]*?)```/.exec(section("Alerts")) ?? [];
  const isOurs = new Function("createHmac", "timingSafeEqual", `${code}; return isOurs;`)(
    createHmac,
    timingSafeEqual,
  ) as (secret: string, header: string | undefined, body: string) => boolean;
  expect(isOurs(SECRET, header, body)).toBe(true);
  expect(isOurs(SECRET, header, body.replace("look", "lock"))).toBe(false);
  expect(isOurs(`${SECRET}x`, header, body)).toBe(false);
  expect(isOurs(SECRET, undefined, body)).toBe(false);
  const then = Math.floor(Date.now() / 1_000) - 301;
  const old = createHmac("sha256", SECRET).update(`${then}.${body}`).digest("hex");
  expect(isOurs(SECRET, `t=${then},v1=${old}`, body)).toBe(false);
});

test("an alert's body has the fields that the page lists, in its order", async () => {
  const { body } = await received();
  const [, list = ""] = /JSON body `\{([^}]*)\}`/.exec(page) ?? [];
  expect(list.replaceAll('"', "").split(", ")).toEqual(Object.keys(JSON.parse(body) as object));
});

/**
 * Codes that a source raises by name, after `code:` or first in a tuple of a code and its text; those of denials and of a
 * strategy's own end are rows of their own kind.
 */
function raisedCodes(): readonly string[] {
  const codes = globSync("src/{app,engine,domain}/**/*.ts").flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/(?:\bcode: |(?<!\()\[\s*)((?:"[A-Z_]+"(?: \| )?)+)/g)]
      .filter(() => ALERTING.test(readFileSync(file, "utf8")))
      .flatMap(([, names = ""]) => names.replaceAll('"', "").split(" | ")),
  );
  const messages = ["FILLED", "WOULD_FILL", "STARTED", "DOWNTIME", "DIGEST", "TEST"];
  return [...new Set(codes)].filter((code) => !messages.includes(code) && !(code in DENIALS)).sort();
}
const ALERTING = /severity: "|raiseAlerts|readonly code: "FLOOR_NOT_MET"|ReachAlert|SUBJECT\.node/;

test("the table of alerts has a row for each code that is raised, and none for another", () => {
  const rows = section("Alerts")
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .flatMap((line) => [...(line.split(" | ")[0] ?? "").matchAll(/`([A-Z_]+)`/g)].map(([, code = ""]) => code));
  expect(rows.filter((code) => !(code in DENIALS)).sort()).toEqual(raisedCodes());
  expect(rows.length).toBeGreaterThan(20);
});

test("a code can be switched off by its name: each that is raised is known", () => {
  const known: readonly string[] = ALERT_CODES;
  expect(raisedCodes().filter((code) => !known.includes(code))).toEqual([]);
});

test("every command of the table of questions is there and takes --json", async () => {
  const commands = new Set(
    section("Look at it")
      .split("\n")
      .filter((line) => line.startsWith("| ") && line.includes("`swapd "))
      .flatMap((line) => [...line.matchAll(/`swapd ([a-z]+(?: (?:list|check|test))?)/g)].map(([, name = ""]) => name)),
  );
  expect(commands.size).toBeGreaterThan(9);
  const written: string[] = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => written.push(String(text)) > 0);
  for (const command of commands) {
    written.length = 0;
    const terminal = { out: () => undefined, err: () => undefined, isInteractive: false };
    await runCli(["node", "swapd", ...command.split(" "), "--help"], terminal);
    expect(written.join(""), command).toContain("--json");
  }
  write.mockRestore();
});

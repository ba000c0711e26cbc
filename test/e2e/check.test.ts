import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { runHere } from "./support/run-here.ts";
import { type Ended, run } from "./support/swapd.ts";

const SETTLEMENT = `0x${"1".repeat(40)}`;
/** Nothing listens there. */
const DEAD = "http://127.0.0.1:1";

/** A folder as `swapd init` leaves it, with a wallet that opens. */
function project(): string {
  const folder = mkdtempSync(join(tmpdir(), "swapd-check-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(template, folder, { recursive: true });
  return folder;
}

/** Made once: a wallet's key is slow to encrypt. */
const template = mkdtempSync(join(tmpdir(), "swapd-check-template-"));

beforeAll(async () => {
  const made = await run(template, [
    "init",
    "--yes",
    "--offline",
    "--wallet",
    "new",
    "--sell",
    "25 USDC",
    "--buy",
    "WETH",
  ]);
  expect(made, made.err).toMatchObject({ code: 0 });
});

afterAll(() => rmSync(template, { recursive: true, force: true }));

const check = (folder: string, env: Record<string, string> = {}): Promise<Ended> =>
  runHere(folder, ["check", "--offline"], env);

function edit(file: string, change: (text: string) => string): void {
  const text = readFileSync(file, "utf8");
  const changed = change(text);
  expect(changed).not.toBe(text);
  writeFileSync(file, changed);
}

/** On paper nothing opens the wallet. */
function signs(folder: string): void {
  edit(join(folder, "swapd.yaml"), (text) => text.replace("mode: paper", "mode: dry-run"));
}

describe("swapd check, of what a configuration names on this machine", () => {
  it("opens the wallet, and names its address with its checksum", async () => {
    const { code, out } = await check(project());
    expect(code, out).toBe(0);
    expect(out).toMatch(/ok\s+wallet main\s+0x\w*[A-F]\w* opens/);
  });

  it("finds a password that does not open the keystore, and both files", async () => {
    const folder = project();
    writeFileSync(join(folder, "wallet.pass"), "another one", { mode: 0o600 });
    const onPaper = await check(folder);
    expect(onPaper.code, onPaper.out).toBe(0);
    expect(onPaper.out).toMatch(/warning\s+wallet main .*wallet\.json.*: .*password.*; on paper nothing opens it/);
    signs(folder);
    const { code, out } = await check(folder);
    expect(code, out).toBe(1);
    expect(out).toMatch(/PROBLEM\s+wallet main .*wallet\.json, with the password in .*wallet\.pass: .*password/);
  });

  it("finds a password's file that is not there", async () => {
    const folder = project();
    unlinkSync(join(folder, "wallet.pass"));
    signs(folder);
    const { code, out } = await check(folder);
    expect(code, out).toBe(1);
    expect(out).toMatch(/PROBLEM\s+wallet main .*wallet\.pass/);
  });

  it.each(["wallet.json", "wallet.pass"])("warns of a %s that others can read, with what to do", async (name) => {
    const folder = project();
    chmodSync(join(folder, name), 0o644);
    const { code, out } = await check(folder);
    expect(code, out).toBe(0);
    expect(out).toMatch(new RegExp(`warning\\s+secret .*${name} can be read by others \\(0644\\): chmod 600 `));
  });

  it("finds a folder without a strategy", async () => {
    const folder = project();
    unlinkSync(join(folder, "strategies", "buy-weth.yaml"));
    const { code, out } = await check(folder);
    expect(code, out).toBe(1);
    expect(out).toMatch(/PROBLEM\s+strategies .*strategies has none: nothing would ever be traded/);
    // `swapd init` writes no strategy beside a configuration that is there.
    expect(out).toContain("`swapd init` in an empty folder writes one");
  });

  it("warns of times without a zone where the machine has another one than UTC, and not of a stated UTC", async () => {
    const folder = project();
    const file = join(folder, "strategies", "buy-weth.yaml");
    const here = { TZ: "Europe/Berlin" };
    edit(file, (text) => text.replace(/^schedule: .*$/m, 'schedule: { at: "Mon 09:00" }'));
    expect((await check(folder, here)).out).toMatch(
      /warning\s+strategy buy-weth .*names no timezone, so its times are UTC; of this machine it would be timezone: Europe\/Berlin/,
    );
    edit(file, (text) => `# no timezone is stated\n${text}`);
    expect((await check(folder, here)).out).toContain("names no timezone");
    edit(file, (text) => text.replace("}", ", timezone: UTC }"));
    expect((await check(folder, here)).out).not.toContain("timezone");
  });
});

describe("swapd check, of a service elsewhere", () => {
  const serviceOf = (url: string) =>
    `service:\n  profile: swapd\n  url: "${url}"\n  apiKey: { env: KEY }\n  settlement: "${SETTLEMENT}"`;

  async function checked(url: string): Promise<Ended> {
    const folder = project();
    edit(join(folder, "swapd.yaml"), (text) => text.replace(/^service: .*\n/m, `${serviceOf(url)}\n`));
    return runHere(folder, ["check"], { RPC_1: DEAD, KEY: "of-nobody" });
  }

  async function answering(status: number, body: unknown): Promise<string> {
    const server = createServer((_, response) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it("finds that nobody answers there", async () => {
    const { code, out } = await checked(DEAD);
    expect(code, out).toBe(1);
    expect(out).toMatch(/PROBLEM\s+service 127\.0\.0\.1:1 .*check service\.url/);
  }, 60_000);

  it("finds that the key is refused", async () => {
    const { out } = await checked(await answering(401, { message: "unknown key", code: 401 }));
    expect(out).toMatch(/PROBLEM\s+service .*it refuses the key: check service\.apiKey/);
    expect(out).not.toContain("of-nobody");
  }, 60_000);

  it("says that it answers", async () => {
    const { out } = await checked(await answering(200, { pending: 0, success: 3 }));
    expect(out).toMatch(/ok\s+service 127\.0\.0\.1:\d+ +answers/);
  }, 60_000);
});

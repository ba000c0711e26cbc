import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createProxy, request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import type { Browser, Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { endWhatIsLeft, makeFolder, run, type Started, start, until } from "../e2e/support/swapd.ts";
import { axeViolations, openBrowser } from "./support/browser.ts";

const folder = makeFolder();
const file = join(folder.path, "config/watched.yaml");
let env: Record<string, string>;
let origin: string;
let browser: Browser;
let page: Page;
let daemon: Started;
const LONG_NAME = "a-strategy-with-a-name-that-is-as-long-as-one-may-be-on-a-phone";

/** A port that nobody has now: the daemon comes back under the same one. */
async function freePort(): Promise<number> {
  return await new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

async function begin(): Promise<Started> {
  const started = start(folder.path, ["start", "--config", file], env);
  await until("the daemon answers", { process: started, withinMs: 60_000 }, async () => {
    return await fetch(`${origin}/healthz`).then(
      () => true,
      () => false,
    );
  });
  return started;
}

const swapd = async (...words: string[]) => await run(folder.path, [...words, "--config", file], env);

async function logIn(where: Page = page): Promise<void> {
  const { out } = await swapd("login", "--json");
  await where.getByLabel("One-time code").fill((JSON.parse(out) as { code: string }).code);
  await where.getByRole("button", { name: "Log in" }).click();
  await where.getByRole("button", { name: "Log out" }).waitFor();
}

const SLOW_MS = 2_500;

/** A bad connection to the daemon: each answer takes long, and something happens all the time. */
async function slowConnection(): Promise<{ readonly url: string; stop(): void }> {
  const proxy = createProxy((incoming, answer) => {
    const { url = "/", method = "GET", headers } = incoming;
    if (url === "/api/v1/events") {
      answer.writeHead(200, { "content-type": "text/event-stream" });
      const timer = setInterval(() => answer.write("event: alerts\ndata: {}\n\n"), 300);
      answer.on("close", () => clearInterval(timer));
      return;
    }
    const sent = request(`${origin}${url}`, { method, headers }, async (got) => {
      await new Promise((resolve) => setTimeout(resolve, url.startsWith("/api/") ? SLOW_MS : 0));
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    sent.on("error", () => answer.destroy());
    incoming.pipe(sent);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  const stop = (): void => {
    proxy.close();
    proxy.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, stop };
}

beforeAll(async () => {
  const sandbox = start(folder.path, ["sandbox", "--no-daemon", "--no-market", "--port", "0", "--json"]);
  const world = JSON.parse(await sandbox.firstLine) as { rpcUrl: string; wallet: { privateKey: string } };
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  const shipped = readFileSync(join(folder.path, "config/sandbox.yaml"), "utf8").split("\nserve:")[0] ?? "";
  const own = shipped
    .replace("mode: live", "mode: dry-run")
    .replace("../.swapd/sandbox/swapd.db", "watched.db")
    .replace("127.0.0.1:9464", `127.0.0.1:${port}`);
  writeFileSync(file, `${own}\nserve: { listen: "127.0.0.1:0", database: watched-service.db }\n`);
  env = { SWAPD_SANDBOX_RPC: world.rpcUrl, SWAPD_SANDBOX_WALLET_KEY: world.wallet.privateKey };
  const named = join(folder.path, `strategies/sandbox/${LONG_NAME}.yaml`);
  writeFileSync(named, readFileSync(join(folder.path, "strategies/sandbox/eth-from-dai.yaml")));
  daemon = await begin();
  browser = await openBrowser();
  page = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();
  await page.goto(origin);
  await logIn();
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await endWhatIsLeft();
  folder.remove();
}, 60_000);

it("says that it is not current once the daemon is killed, keeps what it showed, and comes back by itself", async () => {
  await page.getByText("live", { exact: true }).waitFor({ timeout: 30_000 });
  await page.getByRole("heading", { name: "Next slots" }).waitFor();
  await page.evaluate("document.documentElement.dataset.sameDocument = 'yes'");
  daemon.process.kill("SIGKILL");
  await daemon.ended;
  await page.getByText("not current", { exact: true }).waitFor({ timeout: 10_000 });
  // What was shown stays, and what is asked for meanwhile says why it does not come.
  expect(await page.getByRole("heading", { name: "Next slots" }).count()).toBe(1);
  await page.getByRole("link", { name: "Alerts" }).click();
  await page.getByText("the daemon cannot be reached").first().waitFor({ timeout: 10_000 });
  expect(await axeViolations(page)).toEqual([]);
  daemon = await begin();
  await page.getByText("live", { exact: true }).waitFor({ timeout: 30_000 });
  await page.getByText("the daemon cannot be reached").first().waitFor({ state: "hidden", timeout: 30_000 });
  expect(await page.evaluate("document.documentElement.dataset.sameDocument")).toBe("yes");
}, 180_000);

it("says beside the value, the weights, what wallets are worth and a chart that these cannot be read, or may be old", async () => {
  const refuse = async (route: Route): Promise<void> => await route.abort();
  const parts = /\/api\/v1\/(portfolio$|prices\/USDC|fills)/;
  const places = [
    { place: "#/", of: ["The value"] },
    { place: "#/wallets", of: ["What they are worth"] },
    { place: "#/strategy/bitcoin-mix", of: ["This"] },
    { place: "#/strategy/take-profit", of: ["This", "Its trades"] },
  ];
  const read = await page.context().newPage();
  for (const [words, refused] of [
    ["", false],
    ["may be old", true],
    ["cannot be shown", true],
  ] as const) {
    if (refused) await read.route(parts, refuse);
    for (const { place, of } of places) {
      // What was read is kept as long as the document is.
      if (words === "cannot be shown") await read.goto("about:blank");
      await read.goto(`${origin}/${place}`);
      await read.getByRole("button", { name: "Log out" }).waitFor();
      await read.getByText("Loading").first().waitFor({ state: "hidden", timeout: 20_000 });
      for (const what of refused ? of : [])
        await read
          .getByText(new RegExp(`${what} (${words}|cannot be shown): the daemon`))
          .first()
          .waitFor();
      if (!refused) expect([place, await read.getByRole("alert").count()]).toEqual([place, 0]);
      // Dollars are no prices in another token.
      if (place.endsWith("profit") && words === "cannot be shown") expect(await read.locator("canvas").count()).toBe(0);
    }
  }
  await read.close();
}, 180_000);

it("reads and asks in its ninth tab too: tabs that nobody sees keep no connection of the browser's six", async () => {
  await page.getByText("live", { exact: true }).waitFor({ timeout: 30_000 });
  const tabs = [page];
  for (let count = 2; count <= 9; count += 1) {
    await tabs.at(-1)?.evaluate(`Object.defineProperty(document, "hidden", { configurable: true, value: true });
      document.dispatchEvent(new Event("visibilitychange"))`);
    const tab = await page.context().newPage();
    tabs.push(tab);
    await tab.goto(origin, { timeout: 15_000 });
    await tab.getByText("live", { exact: true }).waitFor({ timeout: 15_000 });
  }
  await Promise.all(tabs.slice(1).map(async (tab) => await tab.close()));
  // Who comes back to a tab sees what is so now.
  await page.evaluate(`delete document.hidden; document.dispatchEvent(new Event("visibilitychange"))`);
  await page.getByText("live", { exact: true }).waitFor({ timeout: 15_000 });
}, 120_000);

it("is as wide as a phone on each of its places, however long a strategy's name is", async () => {
  for (const name of ["Overview", "History", "Wallets", "Services", "Alerts", "Record"]) {
    await page.getByRole("link", { name }).click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    await page.getByText("Loading").first().waitFor({ state: "hidden" });
    expect([name, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([name, 390]);
  }
}, 60_000);

it("asks again with the reason that it asked with: whose answer was lost presses again, and it acts once", async () => {
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("button", { name: "Pause: everything" }).click();
  const reason = page.getByLabel("Why");
  await reason.fill("holiday");
  // The daemon has it, and its answer is lost.
  const lose = async (route: Route): Promise<void> => {
    await route.fetch();
    await route.abort();
  };
  await page.route("**/api/v1/actions", lose, { times: 1 });
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByText("To press again is safe").waitFor();
  expect(await reason.isEditable()).toBe(false);
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByText("Done: pause of global").waitFor();
}, 60_000);

it("says what came of an action whose question was closed meanwhile, and that nobody is logged out without the daemon", async () => {
  let lose = (): void => undefined;
  const isLost = new Promise<void>((resolve) => {
    lose = resolve;
  });
  const hold = async (route: Route): Promise<void> => {
    await isLost;
    await route.abort();
  };
  await page.route("**/api/v1/actions", hold, { times: 1 });
  await page.getByRole("button", { name: "Halt: everything" }).click();
  await page.getByRole("button", { name: "Halt", exact: true }).click();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  lose();
  await page.getByText("Halt everything? the daemon cannot be reached. It may be done; see Record.").waitFor();
  await page.route("**/api/v1/session", async (route) => await route.abort(), { times: 1 });
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByText("Not logged out: the daemon cannot be reached").waitFor();
}, 60_000);

it("halts at once over a bad connection: what is read again and again leaves room, and shows nothing older then", async () => {
  const slow = await slowConnection();
  const there = await (await browser.newContext()).newPage();
  await there.addInitScript(`const send = fetch;
    window.unanswered = 0;
    window.fetch = (...asked) => {
      window.unanswered += 1;
      return send(...asked).finally(() => (window.unanswered -= 1));
    }`);
  await there.goto(slow.url);
  await logIn(there);
  await there.getByRole("heading", { name: "Next slots" }).waitFor();
  await there.waitForTimeout(4 * SLOW_MS);
  await there.getByRole("button", { name: "Halt: everything" }).click();
  expect(await there.evaluate("window.unanswered")).toBeLessThanOrEqual(4);
  const sinceMs = performance.now();
  await there.getByRole("button", { name: "Halt", exact: true }).click();
  await there.getByText("Done: halt of global").waitFor();
  expect(performance.now() - sinceMs).toBeLessThan(2 * SLOW_MS);
  const halted = there.getByText("Everything is halted", { exact: true });
  await halted.waitFor();
  for (let look = 0; look < 10; look += 1) {
    expect(await halted.count()).toBe(1);
    await there.waitForTimeout(SLOW_MS / 5);
  }
  await there.context().close();
  slow.stop();
  await swapd("resume");
}, 120_000);

it("says that the login has ended when somebody revoked it, shows nothing more, and lets a new code in", async () => {
  const { out } = await swapd("login", "list", "--json");
  const [login] = (JSON.parse(out) as { access: { name: string; kind: string }[] }).access;
  expect(login?.kind).toBe("login");
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("heading", { name: "Next slots" }).waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  expect(await swapd("login", "revoke", login?.name ?? "")).toMatchObject({ code: 0 });
  await page.getByRole("alert").getByText("The login has ended").waitFor({ timeout: 40_000 });
  expect(await page.getByRole("heading", { name: "Next slots" }).count()).toBe(0);
  expect(await axeViolations(page)).toEqual([]);
  await logIn();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByLabel("One-time code").waitFor();
  expect(await page.getByText("The login has ended").count()).toBe(0);
}, 120_000);

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../e2e/support/swapd.ts";
import { axeViolations, tooWide, watch } from "./support/browser.ts";
import { type PageLife, startPageLife } from "./support/page-life.ts";

let life: PageLife;

beforeAll(async () => {
  life = await startPageLife();
  const { page } = await life.enter();
  // Something to show on every page: fills, prices, a portfolio over time.
  await until("some fills", { process: life.daemon, withinMs: 120_000 }, async () => {
    const { items } = await answer<{ items: unknown[] }>(page, "/fills?limit=5");
    return items.length >= 5;
  });
  await page.context().close();
}, 300_000);

afterAll(async () => await life.stop(), 60_000);

/** Asks the API as the page does, with its cookie. */
async function answer<T>(page: Page, path: string): Promise<T> {
  const response = await page.request.get(`${life.origin}/api/v1${path}`);
  return (await response.json()) as T;
}

async function go(page: Page, hash: string, heading: string): Promise<void> {
  await page.goto(`${life.origin}/${hash}`);
  await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
  await page.getByText("Loading…").first().waitFor({ state: "hidden" });
}

async function newestRun(page: Page): Promise<string> {
  const { items } = await answer<{ items: { run: string }[] }>(page, "/fills?limit=1");
  return items[0]?.run ?? "";
}

const WIDTHS = [390, 820, 1_280] as const;
const SCHEMES = ["light", "dark"] as const;

describe.each(SCHEMES)("in its %s colours", (scheme) => {
  it("shows every page at three widths without a message, a foreign request, or a violation", async () => {
    const { context, page } = await life.enter({ scheme });
    const watched = watch(context, life.origin);
    await page.reload();
    const pages: [string, string][] = [
      ...([
        ["#/", "Overview"],
        ["#/history", "History"],
        ["#/wallets", "Wallets"],
        ["#/services", "Services"],
        ["#/alerts", "Alerts"],
        ["#/record", "Record"],
        ["#/no-such-page", "Nothing here"],
      ] satisfies [string, string][]),
      ...["take-profit", "bitcoin-mix", "eth-from-dai", "asks-first"].map((id): [string, string] => [
        `#/strategy/${id}`,
        id,
      ]),
      [`#/run/${await newestRun(page)}`, "Run"],
    ];
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      for (const [hash, heading] of pages) {
        await go(page, hash, heading);
        const found = { axe: await axeViolations(page), tooWide: await tooWide(page) };
        expect({ width, heading, ...found }).toEqual({ width, heading, axe: [], tooWide: undefined });
      }
    }
    expect(watched).toEqual({ messages: [], foreign: [] });
    await context.close();
  }, 400_000);
});

describe("the way in", () => {
  it("refuses a wrong code in words, and takes the right one once, never in an address", async () => {
    const context = await life.browser.newContext();
    const page = await context.newPage();
    const addresses: string[] = [];
    context.on("request", (request) => addresses.push(request.url()));
    await page.goto(life.origin);
    expect(await axeViolations(page)).toEqual([]);
    await page.getByLabel("One-time code").fill("AAAA-BBBB-CCCC");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("alert").getByText("swapd login").waitFor();
    const code = await life.code();
    await page.getByLabel("One-time code").fill(code);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    expect(addresses.filter((address) => address.includes(code))).toEqual([]);
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByLabel("One-time code").fill(code);
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    await context.close();
  });

  it("offers no action to one who may only look", async () => {
    const { context, page } = await life.enter({ scope: "read" });
    await go(page, "#/strategy/take-profit", "take-profit");
    await page.getByText("threshold", { exact: true }).first().waitFor();
    for (const name of ["Run now", "Skip next", "Pause", "Halt", "Exits only", "Resume"]) {
      expect(await page.getByRole("button", { name }).count(), name).toBe(0);
    }
    await context.close();
  });

  it("asks a browser to log in that forgot what it acts by, and kept its cookie", async () => {
    const { context, page } = await life.enter();
    await go(page, "#/strategy/take-profit", "take-profit");
    await page.evaluate("localStorage.clear()");
    await page.reload();
    await page.getByLabel("One-time code").fill(await life.code());
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Halt" }).first().waitFor();
    await context.close();
  });

  it("shows nothing of a daemon that speaks another version", async () => {
    const { context, page } = await life.enter();
    const asked: string[] = [];
    await page.route("**/api/v1/session", async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as object;
      await route.fulfill({ response, json: { ...body, apiVersion: "2" } });
    });
    await page.goto("about:blank");
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(life.origin);
    await page.getByRole("heading", { name: "Another version" }).waitFor();
    expect(asked.filter((path) => path.startsWith("/api/") && path !== "/api/v1/session")).toEqual([]);
    await context.close();
  });
});

interface Recorded {
  readonly action: string;
  readonly target: string;
  readonly by: string;
  readonly reason: string | null;
}

describe("actions", () => {
  /** Presses a button, says why in the dialog, and confirms once. */
  async function ask(page: Page, name: string, why: string, words: string): Promise<void> {
    await page.getByRole("button", { name, exact: true }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(words, { exact: false }).first().waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await dialog.getByLabel("Why").fill(why);
    await dialog.getByRole("button").last().click();
    await dialog.waitFor({ state: "hidden" });
    await page
      .getByRole("status")
      .getByText(/^(Done|Asked|Refused)/)
      .waitFor();
  }

  async function recorded(page: Page, why: string): Promise<Recorded[]> {
    const { items } = await answer<{ items: Recorded[] }>(page, "/actions?limit=100");
    return items.filter(({ reason }) => reason === why);
  }

  it("are each asked once, name what they act on, and are recorded with who and why", async () => {
    const { context, page } = await life.enter();
    const watched = watch(context, life.origin);
    await go(page, "#/strategy/take-profit", "take-profit");
    const one = "take-profit";
    const onStrategy = [
      ["Run now", "run"],
      ["Skip next", "skip"],
      ["Pause", "pause"],
      ["Exits only", "exits-only"],
      ["Halt", "halt"],
      ["Resume", "resume"],
    ] as const;
    for (const [button, action] of onStrategy) {
      const why = `because of ${action} <b>&`;
      await ask(page, `${button}: ${one}`, why, one);
      await expect
        .poll(async () => await recorded(page, why), { timeout: 30_000 })
        .toMatchObject([{ action, target: one }]);
    }
    await go(page, "#/", "Overview");
    for (const [button, action] of onStrategy.slice(2)) {
      const why = `all: ${action}`;
      await ask(page, `${button}: everything`, why, "everything");
      await expect
        .poll(async () => await recorded(page, why), { timeout: 30_000 })
        .toMatchObject([{ action, target: "global" }]);
    }
    await go(page, "#/record", "Record");
    await page.getByText("because of run <b>&").waitFor();
    const [first] = await recorded(page, "all: halt");
    expect(first?.by).not.toBe("");
    expect(watched).toEqual({ messages: [], foreign: [] });
    await context.close();
  }, 300_000);

  it("approve and refuse a run that waits for a person", async () => {
    const { context, page } = await life.enter();
    // To refuse a run is to skip it, and recorded so.
    for (const [button, action] of [
      ["Approve", "approve"],
      ["Refuse", "skip"],
    ] as const) {
      const waiting = page.getByRole("button", { name: new RegExp(`^${button}: run .* of asks-first$`) }).first();
      await waiting.waitFor({ timeout: 90_000 });
      const run = /run (\S+) of/.exec((await waiting.getAttribute("aria-label")) ?? "")?.[1];
      await waiting.click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText(`run ${run}`).waitFor();
      await dialog.getByLabel("Why").fill(`seen: ${action}`);
      await dialog.getByRole("button", { name: button, exact: true }).click();
      await dialog.waitFor({ state: "hidden" });
      await expect
        .poll(async () => await recorded(page, `seen: ${action}`), { timeout: 30_000 })
        .toMatchObject([{ action, target: run }]);
      await page.getByText("Nothing is signed unless").waitFor({ state: "hidden", timeout: 60_000 });
    }
    await context.close();
  }, 300_000);

  it("do nothing when they are not confirmed, and act once when their answer is lost", async () => {
    const { context, page } = await life.enter();
    await go(page, "#/strategy/eth-from-dai", "eth-from-dai");
    const sent: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") sent.push(request.headers()["idempotency-key"] ?? "none");
    });
    const button = page.getByRole("button", { name: "Skip next: eth-from-dai" });
    await button.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Skip next: eth-from-dai");
    expect(sent).toEqual([]);
    // The first answer is lost on its way back.
    let isLost = false;
    await page.route("**/api/v1/actions", async (route) => {
      if (route.request().method() !== "POST" || isLost) return await route.continue();
      isLost = true;
      await route.fetch();
      await route.abort();
    });
    await button.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Why").fill("lost once");
    await dialog.getByRole("button", { name: "Skip the slot" }).click();
    await dialog.getByRole("alert").getByText("To press again is safe").waitFor();
    await dialog.getByRole("button", { name: "Skip the slot" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect(new Set(sent).size).toBe(1);
    expect(sent).toHaveLength(2);
    expect(await recorded(page, "lost once")).toHaveLength(1);
    await context.close();
  });
});

describe("the record", () => {
  it("shows what an audit found that somebody made beside the daemon", async () => {
    const { context, page } = await life.enter();
    await go(page, "#/record", "Record");
    await page.getByText("None was made.").waitFor();
    expect(await life.swapd("audit")).toMatchObject({ code: 0, err: "" });
    await page.reload();
    await page.getByText("clean", { exact: true }).waitFor();
    await page.getByText(/everything up to block \d+ \(\d+ runs/).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await context.close();
  }, 60_000);
});

describe("live updates", () => {
  it("bring moves, figures and another person's pause without a reload", async () => {
    const { context, page } = await life.enter();
    const watched = watch(context, life.origin);
    await page.getByText("live", { exact: true }).waitFor();
    const moves = page.locator(".moves li");
    await moves.nth(3).waitFor({ timeout: 60_000 });
    const other = await life.enter();
    await go(other.page, "#/strategy/spare-ether", "spare-ether");
    await other.page.getByRole("button", { name: "Pause: spare-ether" }).click();
    await other.page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
    await page.getByText("spare-ether is paused").waitFor({ timeout: 10_000 });
    await other.page.getByRole("button", { name: "Resume: spare-ether" }).click();
    await other.page.getByRole("dialog").getByRole("button", { name: "Resume" }).click();
    await page.getByText("spare-ether is paused").waitFor({ state: "hidden", timeout: 10_000 });
    expect(watched).toEqual({ messages: [], foreign: [] });
    await other.context.close();
    await context.close();
  }, 200_000);
});

describe("hostile names and texts", () => {
  it("stay text, wherever they come from", async () => {
    const { context, page } = await life.enter();
    const watched = watch(context, life.origin);
    const hostile = `"><img src=x onerror=alert(1)><script>alert(2)</script>`;
    await page.route(
      /\/api\/v1\/(info|status|portfolio|fills|runs|strategies|wallets|alerts|services)/,
      async (route) => {
        const response = await route.fetch();
        const text = await response.text();
        const bad = text.replaceAll(
          /"(symbol|strategy|name|reason|text|host|detail|message)":"[^"]*"/g,
          (_, key: string) => {
            return `"${key}":${JSON.stringify(hostile)}`;
          },
        );
        await route.fulfill({ response, body: bad });
      },
    );
    await page.reload();
    for (const hash of ["#/", "#/history", "#/wallets", "#/services", "#/alerts", "#/strategy/asks-first"]) {
      await page.goto(`${life.origin}/${hash}`);
      await page.getByText("onerror=alert(1)").first().waitFor();
      expect(await page.locator("img, main script, iframe").count(), hash).toBe(0);
    }
    expect(await page.title()).not.toBe("hit");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    // The daemon knows no token of such a name, of which the page asks for prices.
    const messages = watched.messages.filter((text) => !text.includes("404"));
    expect({ ...watched, messages }).toEqual({ messages: [], foreign: [] });
    await context.close();
  });
});

describe("speed", () => {
  it("paints first within a second", async () => {
    const { context, page } = await life.enter();
    await page.reload();
    await page.getByRole("heading", { name: "Next slots" }).waitFor();
    const paintMs = await page.evaluate(
      () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 1e9,
    );
    expect(paintMs).toBeLessThan(1_000);
    await context.close();
  });

  it("holds ten thousand runs with few of them in the document", async () => {
    const { context, page } = await life.enter();
    const [one] = (await answer<{ items: object[] }>(page, "/runs?limit=1")).items;
    const many = Array.from({ length: 10_000 }, (_, place) => ({
      ...one,
      id: `run_${place}`,
      reason: `place ${place}`,
      swaps: [],
    }));
    await page.route("**/api/v1/runs?*", async (route) => {
      const isFirst = !route.request().url().includes("before=");
      await route.fulfill({ json: { items: isFirst ? many : [], next: null } });
    });
    await go(page, "#/history", "History");
    await page.getByText("place 0", { exact: true }).waitFor();
    const list = page.getByRole("region", { name: "Runs, newest first" });
    expect(await list.locator("li").count()).toBeLessThan(60);
    const startedMs = performance.now();
    await list.evaluate((element) => {
      element.scrollTop = element.scrollHeight;
    });
    await page.getByText("place 9999", { exact: true }).waitFor();
    expect(performance.now() - startedMs).toBeLessThan(1_000);
    expect(await list.locator("li").count()).toBeLessThan(60);
    await context.close();
  });
});

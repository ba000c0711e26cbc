import { existsSync } from "node:fs";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

const CHROMIUM = process.env.SWAPD_CHROMIUM ?? "/usr/bin/chromium";

/** Debian's Chromium, or the one that SWAPD_CHROMIUM names. */
export async function openBrowser(): Promise<Browser> {
  if (!existsSync(CHROMIUM)) {
    throw new Error(`${CHROMIUM} is missing: install the package chromium, or name a Chromium in SWAPD_CHROMIUM`);
  }
  // A container's root has no user namespace for Chromium's own sandbox.
  return await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
}

/** What a page said and asked that it should not have. */
export interface Watched {
  readonly messages: string[];
  readonly foreign: string[];
}

/** Notes everything in the console, every exception, and every request to another host than the page's own. */
export function watch(context: BrowserContext, origin: string): Watched {
  const watched: Watched = { messages: [], foreign: [] };
  context.on("console", (message) => watched.messages.push(`${message.type()}: ${message.text()}`));
  context.on("weberror", (error) => watched.messages.push(`exception: ${error.error().stack}`));
  context.on("dialog", (dialog) => {
    watched.messages.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:")) watched.foreign.push(url);
  });
  return watched;
}

/** Every violation that axe finds on a page, each with its first place. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { axe: engine } = globalThis as unknown as { axe: typeof import("axe-core") };
    const { violations, passes } = await engine.run();
    const lines = violations.map(
      ({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)} ${nodes[0]?.failureSummary}`,
    );
    return { lines, passed: passes.length };
  });
  if (found.passed === 0) throw new Error("axe looked at nothing");
  return found.lines;
}

/** Whether anything is wider than the screen, by its first element; regions that scroll by themselves may be, unless they fold. */
export async function tooWide(page: Page): Promise<string | undefined> {
  const [content, screen, cut] = (await page.evaluate(
    `[document.scrollingElement.scrollWidth, innerWidth, [...document.querySelectorAll(".wide")].filter(
      (part) => part.querySelector(".folded") && part.scrollWidth > part.clientWidth,
    ).map((part) => part.getAttribute("aria-label") + " is cut")]`,
  )) as [number, number, readonly string[]];
  return content <= screen ? cut[0] : `${content} px on a screen of ${screen} px`;
}

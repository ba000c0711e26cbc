import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { until } from "../e2e/support/swapd.ts";
import { startPageLife } from "./support/page-life.ts";
import { noteWhatOf, PICTURES, PICTURES_FOLDER } from "./support/pictures.ts";

/**
 * Makes the pictures of README.md and docs: `npm run page:pictures [-- --all <folder>]`. A real sandbox trades for a
 * while, and the page is photographed at three widths in both themes; the few that are committed go to docs/pictures.
 */
const WIDTHS = { phone: 390, tablet: 820, desk: 1_280 } as const;
const TRADE_MS = 90_000;

const all = process.argv[2] === "--all" ? process.argv[3] : undefined;
const life = await startPageLife();
try {
  await new Promise((resolve) => setTimeout(resolve, TRADE_MS));
  for (const scheme of ["light", "dark"] as const) {
    const { context, page } = await life.enter({ scheme });
    await until(
      "a fill",
      { process: life.daemon, withinMs: 60_000 },
      async () => (await newestRun(page)) !== undefined,
    );
    const places = {
      overview: "#/",
      strategy: "#/strategy/take-profit",
      dca: "#/strategy/eth-from-dai",
      run: `#/run/${await newestRun(page)}`,
      history: "#/history",
      wallets: "#/wallets",
      services: "#/services",
      alerts: "#/alerts",
      record: "#/record",
    };
    for (const [width, px] of Object.entries(WIDTHS)) {
      await page.setViewportSize({ width: px, height: px === WIDTHS.phone ? 844 : 1_000 });
      for (const [name, hash] of Object.entries(places)) {
        await page.goto(`${life.origin}/${hash}`);
        // Charts are drawn when what they show has come.
        await page.waitForTimeout(1_500);
        await keep(page, `${name}-${width}-${scheme}`);
      }
    }
    await context.close();
  }
  noteWhatOf();
} finally {
  await life.stop();
}

async function newestRun(page: Page): Promise<string | undefined> {
  const response = await page.request.get(`${life.origin}/api/v1/fills?limit=1`);
  return ((await response.json()) as { items: { run: string }[] }).items[0]?.run;
}

/** What is committed is few and small: one screen each, the rest only where somebody asked for all. */
async function keep(page: Page, name: string): Promise<void> {
  if (PICTURES.includes(name))
    await page.screenshot({ path: join(PICTURES_FOLDER, `${name}.jpg`), type: "jpeg", quality: 70 });
  if (all === undefined) return;
  mkdirSync(all, { recursive: true });
  await page.screenshot({ path: join(all, `${name}.png`), fullPage: true });
}

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { makeFolder, run, type Started, start } from "../../e2e/support/swapd.ts";
import { openBrowser } from "./browser.ts";

/** A sandbox with its daemon and its page, and a browser that looks at it. */
export interface PageLife {
  readonly origin: string;
  readonly browser: Browser;
  readonly daemon: Started;
  /** a browser of its own, logged in */
  enter(options?: { readonly scheme?: "light" | "dark"; readonly width?: number; readonly scope?: string }): Promise<{
    readonly context: BrowserContext;
    readonly page: Page;
  }>;
  /** prints a one-time code, as a person on the machine would */
  code(scope?: string): Promise<string>;
  /** a command in the folder of the sandbox */
  swapd(...words: string[]): ReturnType<typeof run>;
  stop(): Promise<void>;
}

/** A strategy that waits for a person at each slot, and whose file holds what must stay text. */
const ASKS_FIRST = `# <img src=x onerror="document.title='hit'"> </script><script>document.title='hit'</script>
kind: dca
wallet: main
sell: "50 USDC"
buy: WETH
schedule: { every: 30s }
retry_for: 25s
execution: { approve_above: "1 USD" }
`;

export async function startPageLife(): Promise<PageLife> {
  const folder = makeFolder();
  writeFileSync(join(folder.path, "strategies/sandbox/asks-first.yaml"), ASKS_FIRST);
  const daemon = start(folder.path, ["sandbox", "--port", "0", "--json"]);
  const line = await daemon.firstLine;
  if (line === "") throw new Error(`the sandbox did not start: ${(await daemon.ended).err}`);
  const origin = (JSON.parse(line) as { apiUrl: string }).apiUrl;
  const browser = await openBrowser();
  // Logins are bounded by the minute: one a scope, and its cookie from then on.
  const logins = new Map<string, Awaited<ReturnType<BrowserContext["storageState"]>>>();
  const code = async (scope = "operate"): Promise<string> => {
    const { code: exit, out, err } = await run(folder.path, ["login", "--sandbox", "--scope", scope, "--json"]);
    if (exit !== 0) throw new Error(`no code was printed: ${err}`);
    return (JSON.parse(out) as { code: string }).code;
  };
  return {
    ...{ origin, browser, daemon, code },
    swapd: (...words) => run(folder.path, words),
    enter: async ({ scheme = "light", width = 1_280, scope = "operate" } = {}) => {
      const known = logins.get(scope);
      const context = await browser.newContext({
        ...{ viewport: { width, height: 900 }, colorScheme: scheme },
        ...(known === undefined ? {} : { storageState: known }),
      });
      const page = await context.newPage();
      await page.goto(origin);
      if (known === undefined) {
        await logIn(page, await code(scope));
        logins.set(scope, await context.storageState());
      }
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      return { context, page };
    },
    stop: async () => {
      await browser.close();
      daemon.process.kill("SIGTERM");
      await daemon.ended;
      folder.remove();
    },
  };
}

/** Types a code into the page that asks for one. */
async function logIn(page: Page, code: string): Promise<void> {
  await page.getByLabel("One-time code").fill(code);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
}

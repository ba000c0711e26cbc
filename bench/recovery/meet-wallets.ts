import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { run, start, until } from "../../test/e2e/support/swapd.ts";

/** What wallets had before a daemon knew them can be accepted once orders of so long a life are past. */
export const FIRST_LIFETIME_SECONDS = 20;
const MEET_WITHIN_MS = 180_000;

/**
 * Lets a daemon meet the wallets, which hold allowances, so that to it they may have traded before and nothing is signed
 * for them; accepts that as a person does, once every order that another database may have signed is past, and ends when
 * all of them were checked against the chain.
 */
export async function meetWallets(
  path: string,
  files: { daemon: string; service: string; env: Record<string, string> },
  { database, wallets }: { database: string; wallets: number },
): Promise<void> {
  const service = start(path, ["serve", "--config", files.service], files.env);
  await service.firstLine;
  const daemon = start(path, ["start", "--config", files.daemon], files.env);
  await until("the daemon is up", { process: daemon, withinMs: 60_000 }, () => daemon.output().includes("statusUrl"));
  const db = new Database(database, { readonly: true });
  const open = db.prepare<[string], number>(
    "SELECT count(*) FROM differences WHERE kind = ? AND settled_at_ms IS NULL",
  );
  const openOf = (kind: string): number => open.pluck().get(kind) ?? 0;
  const patience = { process: daemon, withinMs: MEET_WITHIN_MS };
  await until("the wallets are looked at", patience, () => openOf("new") === wallets);
  const accept = () => run(path, ["db", "accept", "--config", files.daemon], files.env);
  let answer = await accept();
  for (const endMs = Date.now() + MEET_WITHIN_MS; answer.code !== 0 && Date.now() < endMs; answer = await accept()) {
    await sleep(5_000);
  }
  if (answer.code !== 0) throw new Error(`the wallets were not accepted: ${answer.out}${answer.err}`);
  await until("the wallets are checked", patience, () => openOf("new") === 0 && openOf("unchecked") === 0);
  db.close();
  for (const part of [daemon, service]) {
    part.process.kill("SIGTERM");
    await part.ended;
  }
}

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { systemClock } from "../../adapters/clock/system-clock.ts";
import type { Configuration } from "../../config/configuration.ts";
import { assertWhole, replaceDatabase } from "../../storage/backup.ts";
import { claimDatabase } from "../../storage/claim.ts";
import { openDatabase } from "../../storage/database.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { configurationFile, readConfiguration } from "../target.ts";
import type { Terminal } from "../terminal.ts";

/** `swapd restore`: puts a copy in the database's place; the next start holds it against the chain before it signs. */
export async function restore(
  file: string,
  options: { config?: string; json?: boolean },
  terminal: Terminal,
): Promise<void> {
  const configuration = readConfiguration(configurationFile(options), EXIT.no);
  const copy = resolve(file);
  refuseUnfit(copy, configuration);
  const pairs = [{ database: configuration.database, copy }];
  if (configuration.service.url === "embedded" && existsSync(`${copy}.service`)) {
    pairs.push({ database: configuration.serve.database, copy: `${copy}.service` });
  }
  const time = new Date(systemClock.nowMs()).toISOString().replaceAll(/[-:.]/g, "");
  const restored = pairs.map((pair) => ({ ...pair, replaced: replaceClaimed(pair, time) ?? null }));
  if (options.json === true) {
    terminal.out(JSON.stringify({ restored }));
    return;
  }
  for (const { database, copy: from, replaced } of restored) {
    terminal.out(
      `${database} is ${from} now; ${replaced === null ? "nothing stood there" : `what stood there is ${replaced}`}`,
    );
  }
  terminal.out("the next start holds it against the chain before anything is signed; see then: swapd db check");
}

/** @throws CommandFailure when the copy is damaged, or of another network */
function refuseUnfit(copy: string, { network }: Configuration): void {
  if (!existsSync(copy)) throw new CommandFailure(EXIT.no, `there is no file ${copy}`);
  try {
    assertWhole(copy);
    const db = openDatabase({ file: copy, readonly: true });
    const row = db.prepare<[], { network: string; chain_id: number }>("SELECT network, chain_id FROM identity").get();
    db.close();
    if (row === undefined || (row.chain_id === network.chainId && row.network === network.name)) return;
    const message = `it belongs to ${row.network} (chain ${row.chain_id}), the configuration names ${network.name} (chain ${network.chainId})`;
    throw new CommandFailure(EXIT.no, `${copy} is not restored: ${message}`);
  } catch (error) {
    if (error instanceof CommandFailure || !(error instanceof Error)) throw error;
    throw new CommandFailure(EXIT.no, `${copy} is not restored: ${error.message}`);
  }
}

function replaceClaimed(pair: { database: string; copy: string }, time: string): string | undefined {
  const claim = claimDatabase(pair.database);
  if (claim.kind === "linked") throw new CommandFailure(EXIT.configuration, claim.message);
  if (claim.kind === "held") {
    const holder = claim.holder ?? "unknown";
    throw new CommandFailure(EXIT.tryAgain, `${pair.database} is in use (${holder}): stop the daemon first`);
  }
  try {
    return replaceDatabase(claim.file, { copy: pair.copy, keepAs: `${claim.file}.replaced-${time}` });
  } finally {
    claim.release();
  }
}

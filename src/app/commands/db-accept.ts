import { existsSync } from "node:fs";
import { systemClock } from "../../adapters/clock/system-clock.ts";
import { openStore } from "../../adapters/sqlite/daemon/open-store.ts";
import { migrateDaemon } from "../../adapters/sqlite/daemon/schema.ts";
import type { Configuration } from "../../config/configuration.ts";
import { decideAcceptance } from "../../engine/reconcile/accept.ts";
import { judgeMarkers } from "../../engine/reconcile/identity.ts";
import type { Decided } from "../../ports/changes.ts";
import type { AcceptanceRows } from "../../ports/reconciliation-questions.ts";
import type { UnitOfWork } from "../../ports/unit-of-work.ts";
import type { SqliteDatabase } from "../../storage/database.ts";
import { openMarker } from "../daemon-database.ts";
import { maxLifetimeSeconds } from "../engine-settings.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { operatorName } from "../operator-name.ts";
import { type ChangeOptions, configurationOf, findTargetToChange, nameTarget } from "../target.ts";
import type { Terminal } from "../terminal.ts";
import { ask } from "./request.ts";

/**
 * `swapd db accept`: by the daemon that runs; where none does, by the command itself, which has the database to itself
 * for as long. The next check of the chain comes before anything is signed either way.
 */
export async function acceptDatabase(options: ChangeOptions & { json?: boolean }, terminal: Terminal): Promise<void> {
  const target = findTargetToChange(options);
  const { configuration } = configurationOf(target);
  const document = (accepted: boolean, answer: string): string =>
    JSON.stringify({ accepted, answer, database: target.database });
  try {
    if (!existsSync(target.database)) throw new CommandFailure(EXIT.no, refusedAsMissing(target.database));
    const answer = await ask({ name: "accept", arguments: {} }, target, (db) => acceptAlone(db, configuration));
    terminal.out(options.json === true ? document(true, answer) : `${answer}\n${nameTarget(target)}`);
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    if (options.json === true) terminal.out(document(false, error.message));
    const message = options.json === true ? "" : `${error.message}\n${nameTarget(target)}`;
    throw new CommandFailure(error.exitCode, message);
  }
}

function refusedAsMissing(database: string): string {
  return `refused: there is no database at ${database}: bring it back with \`swapd restore\`, or start the daemon, which makes a new one and checks it against the chain; then accept`;
}

/** Does what the daemon would do, in its place. @throws CommandFailure when there is nothing to accept, or not yet */
async function acceptAlone(db: SqliteDatabase, configuration: Configuration): Promise<string> {
  migrateDaemon(db);
  const store = openStore(db);
  const strategies = configuration.strategies.map(({ spec, hash }) => ({ spec, specHash: hash }));
  const settings = {
    chainId: configuration.network.chainId,
    strategies,
    pace: { maxLifetimeSeconds: maxLifetimeSeconds(configuration) },
  };
  const question = { kind: "acceptance" } as const;
  const { open } = await store.read(question);
  const isFound = open.some(({ kind }) => kind !== "unchecked");
  if (!isFound) throw new CommandFailure(EXIT.no, await nothingToAccept(store, configuration));
  const context = { settings, deps: { clock: systemClock } };
  const decide = (rows: AcceptanceRows): Decided<string> => decideAcceptance(context, rows, operatorName());
  const [written] = await store.commit([{ question, decide }]);
  const answer = written?.value ?? "";
  if (answer.startsWith("refused:")) throw new CommandFailure(EXIT.no, answer);
  return `${answer}\nno daemon runs: the next start checks the chain once more before it signs`;
}

async function nothingToAccept(store: UnitOfWork, configuration: Configuration): Promise<string> {
  const wallets = [...configuration.wallets.values()].map(({ address }) => address);
  const [found] = (await judgeMarkers(store, openMarker(configuration), wallets)).fresh;
  if (found === undefined) {
    return "refused: nothing is open that could be accepted; see: swapd db check";
  }
  return `refused: ${found.text}; it has not been checked against the chain yet: start the daemon, read \`swapd db check\`, then accept`;
}

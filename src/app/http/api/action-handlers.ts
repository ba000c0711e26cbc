import { hash } from "node:crypto";
import type { z } from "zod";
import type { Access } from "../../../ports/access.ts";
import type { ListedRequest } from "../../../ports/listing.ts";
import { oneLine } from "../../one-line.ts";
import type { ApiSources } from "./api-sources.ts";
import { instantOf } from "./describe-money.ts";
import type { Handlers } from "./handlers.ts";
import type { AnswerOf } from "./operations.ts";
import { numberCursor, pageOf } from "./pages.ts";
import { ApiProblem } from "./problem.ts";
import type { action } from "./shapes/action-shapes.ts";

type Action = z.output<typeof action>;
type Result = AnswerOf<"act">;

/** So long an action is waited for; its row stays, and the same key asks for what came of it. */
const ANSWER_WITHIN_MS = 5_000;
const LOOK_AGAIN_MS = 1_000;

/** Asks the daemon for something by a row of its database, as the commands do, and says what came of it. */
export function createActionHandlers(sources: ApiSources): Handlers<"act" | "listActions"> {
  const { access, listing, clock, logger } = sources;
  return {
    act: async ({ body, caller, key }) => {
      if (caller === undefined) throw new Error("an action has no caller");
      const accessKey = { accessId: caller.id, key: keyOf(key), asked: hash("sha256", JSON.stringify(body)) };
      const request = { ...requestOf(body), madeBy: nameOf(caller) };
      const written = await access.request(accessKey, request, clock.nowMs());
      if (written === "other-request")
        throw new ApiProblem("KEY_USED", "the key was sent with another action before; make a new one for each action");
      if (written === "too-many")
        throw new ApiProblem(
          "TOO_MANY",
          "nothing was asked for: too many actions of yours wait to be taken already; ask again once they have their answers. A halt of everything is taken all the same",
        );
      logger.info({ action: body.action, by: request.madeBy, requestId: written.id }, "an action was asked for");
      return describeRequest(await answered(sources, written.id));
    },
    listActions: async ({ query: { before, limit } }) => {
      const rows = await listing.requests({ before: numberCursor(before), limit: limit + 1 });
      const { items, next } = pageOf(rows, limit, ({ id }) => String(id));
      return { items: items.map(describeRequest), next };
    },
  };
}

function keyOf(key: string | undefined): string {
  if (key !== undefined && /^[\x21-\x7e]{1,100}$/.test(key)) return key;
  const detail =
    "the header Idempotency-Key has to be there: a text of your own, new for each action, at most 100 characters";
  throw new ApiProblem("REQUEST_MALFORMED", detail);
}

/** As it stands in the row of who asked. */
function nameOf({ name, kind }: Access): string {
  return kind === "login" ? `${name} (page)` : `${name} (token)`;
}

const MODES = { pause: "paused", "exits-only": "exits-only", halt: "halted", resume: "active" } as const;

function requestOf(asked: Action): { readonly command: string; readonly arguments: Readonly<Record<string, string>> } {
  const why = asked.reason === undefined ? {} : { reason: oneLine(asked.reason) };
  switch (asked.action) {
    case "run":
      return {
        command: "run",
        arguments: { strategy: asked.strategy, ...(asked.extra === true ? { extra: "true" } : {}), ...why },
      };
    case "skip":
      return { command: "skip", arguments: { strategy: asked.strategy, ...why } };
    case "approve":
      return { command: "approve", arguments: { run: asked.run, ...why } };
    case "refuse":
      return { command: "skip", arguments: { run: asked.run, ...why } };
    default:
      return { command: "mode", arguments: { mode: MODES[asked.action], scope: asked.strategy ?? "global", ...why } };
  }
}

/** The row once it has its answer, or as it is after a while. */
async function answered({ listing, clock, commits }: ApiSources, id: number): Promise<ListedRequest> {
  const until = clock.monotonicMs() + ANSWER_WITHIN_MS;
  for (;;) {
    const row = await listing.request(id);
    if (row === undefined) throw new Error("a request was not written down");
    const leftMs = until - clock.monotonicMs();
    if (row.answer !== null || leftMs <= 0) return row;
    await commits.wait(Math.min(leftMs, LOOK_AGAIN_MS));
  }
}

function describeRequest({ id, command, arguments: args, madeBy: by, madeAtMs, answer }: ListedRequest): Result {
  return {
    ...{ id, action: actionOf(command, args), target: targetOf(args), by },
    at: instantOf(madeAtMs),
    reason: args.reason ?? null,
    state: answer === null ? "waiting" : answer.startsWith("refused:") ? "refused" : "done",
    answer,
  };
}

/** What it acts on; of an allowance that is revoked the token. */
function targetOf({ run, strategy, intent, token, scope = "global" }: ListedRequest["arguments"]): string {
  return run ?? strategy ?? intent ?? token ?? scope;
}

/** Under the word that people use for it. */
function actionOf(command: string, args: ListedRequest["arguments"]): string {
  if (command !== "mode") return command;
  return Object.entries(MODES).find(([, mode]) => mode === args.mode)?.[0] ?? command;
}

import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { readBody, startHttpServer } from "./http-server.ts";

/**
 * A double of Telegram's Bot API, written from its documentation alone (https://core.telegram.org/bots/api): updates are
 * kept until a later offset confirms them, a second poll ends the first one with 409, and a wrong token gets 401. It waits
 * for updates for a moment only.
 */
export const BOT_TOKEN = "123456:ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghi";
export const BOT_NAME = "swapd_test_bot";

export interface Update {
  readonly update_id: number;
  readonly message?: unknown;
}

const LONGEST_WAIT_MS = 20;

/** It writes out what is no ASCII. */
function asciiJson(body: unknown): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(body).replaceAll(/[\u0080-\uffff]/g, escaped);
}

export async function startBotServer(nowSeconds: () => number) {
  const state = {
    updates: [] as Update[],
    said: [] as string[],
    polls: [] as { offset?: number; timeout: number }[],
    /** polls that were open at the same time */
    mostAtOnce: 0,
    /** answers in place of what it would say: a status with a body, or nothing ever */
    instead: undefined as { status: number; body: unknown } | "nothing" | undefined,
    /** it does not say who the bot is */
    isNameless: false,
    lastId: 1_000,
    /** what others do just before each poll */
    before: (): void => undefined,
  };
  let waiting: ServerResponse[] = [];
  const answer = (response: ServerResponse, status: number, body: unknown): void => {
    const date = new Date(nowSeconds() * 1_000).toUTCString();
    response.sendDate = false;
    response.writeHead(status, { "content-type": "application/json", date }).end(asciiJson(body));
  };
  const refuse = (response: ServerResponse, error_code: number, description: string): void =>
    answer(response, error_code, { ok: false, error_code, description });
  const poll = async (
    response: ServerResponse,
    fields: { offset?: number; timeout: number; limit: number },
  ): Promise<void> => {
    state.mostAtOnce = Math.max(state.mostAtOnce, waiting.length + 1);
    for (const earlier of waiting) refuse(earlier, 409, "Conflict: terminated by other getUpdates request");
    waiting = [response];
    // A poll whose caller has gone is over.
    response.once("close", () => {
      waiting = waiting.filter((one) => one !== response);
    });
    state.polls.push(fields);
    state.before();
    const from = fields.offset ?? 0;
    state.updates = state.updates.filter(({ update_id: id }) => id >= from);
    if (state.updates.length === 0 && fields.timeout > 0) await pause(LONGEST_WAIT_MS);
    if (!waiting.includes(response)) return;
    waiting = [];
    answer(response, 200, { ok: true, result: state.updates.slice(0, Math.min(fields.limit, 100)) });
  };
  const { url } = await startHttpServer(async (request, response) => {
    const fields = JSON.parse((await readBody(request)) || "{}");
    const [, token, method] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? "") ?? [];
    if (state.instead === "nothing") return;
    if (state.instead !== undefined) return answer(response, state.instead.status, state.instead.body);
    if (token !== BOT_TOKEN) return refuse(response, 401, "Unauthorized");
    if (method === "getMe" && state.isNameless) return refuse(response, 500, "Internal Server Error");
    if (method === "getMe") return answer(response, 200, { ok: true, result: { id: 123_456, username: BOT_NAME } });
    if (method === "getUpdates") return await poll(response, fields);
    if (method !== "sendMessage") return refuse(response, 404, "Not Found");
    state.said.push(String(fields.text));
    answer(response, 200, { ok: true, result: { message_id: 1 } });
  });
  /** Somebody sends a text. */
  const send = (text: string, change: { user?: number; chat?: number; ageSeconds?: number; message?: object } = {}) => {
    const { user = 42, chat = -100, ageSeconds = 0, message = {} } = change;
    state.lastId += 1;
    const date = Math.floor(nowSeconds()) - ageSeconds;
    const from = { id: user, is_bot: false, first_name: "x" };
    state.updates.push({
      update_id: state.lastId,
      message: { message_id: state.lastId, date, chat: { id: chat, type: "group" }, from, text, ...message },
    });
  };
  return { url, state, send };
}

import { z } from "zod";
import { type BoundedFetch, type BoundedResponse, boundedFetch, FetchError } from "../../net/bounded-fetch.ts";
import { readRetryAfter } from "../../net/retry-after.ts";
import { hostOf, Secret } from "../../net/secret.ts";
import { createPost } from "./post.ts";

/** One message that somebody sent to a bot. */
export interface ChatMessage {
  readonly updateId: number;
  /** when the service took it, in Unix seconds by its own clock */
  readonly atSeconds: number;
  readonly chat: string;
  /** undefined: nobody by name, a channel for example */
  readonly user: string | undefined;
  readonly text: string;
  /** it is in the sender's own words: neither forwarded, nor of a bot, nor in the name of a group */
  readonly isOwn: boolean;
}

/** What a bot heard, or why it heard nothing. */
export type Heard =
  | {
      readonly ok: true;
      readonly messages: readonly ChatMessage[];
      /** the first update that was not among them; undefined: there was none at all */
      readonly next: number | undefined;
      /** nothing was left behind these: the answer had room for more */
      readonly isAll: boolean;
      /** what the service's clock says, in Unix seconds */
      readonly nowSeconds: number | undefined;
    }
  | { readonly ok: false; readonly detail: string; readonly afterMs: number | undefined };

/** A bot of Telegram. */
export interface Bot {
  /** the public part of its token */
  readonly id: string;
  readonly host: string;
  /** Its name without the @; undefined where nobody says it. */
  name(signal: AbortSignal): Promise<string | undefined>;
  /** Waits for messages from an update on, and confirms all before it. */
  hear(
    from: { readonly update: number | undefined; readonly waitSeconds: number },
    signal: AbortSignal,
  ): Promise<Heard>;
  /** Says something in a chat, once. @returns what went wrong */
  say(chat: string, text: string, signal: AbortSignal): Promise<string | undefined>;
}

export const TELEGRAM_API = "https://api.telegram.org";

const TOKEN = /^[0-9]{1,20}:[A-Za-z0-9_-]{20,64}$/;

/** What is wrong with the token of a bot. */
export function botTokenProblem(token: string): string | undefined {
  return TOKEN.test(token) ? undefined : "is no token of a bot; @BotFather gives one, 123456:ABC...";
}

/**
 * Who knows a bot's name may write to it, and what he wrote stands before our own commands for a day. An update takes up
 * to half a megabyte: letters are written out in six bytes each, and with a message comes the one that it answers, each
 * with a hundred links. So many at once fit into an answer, whatever they hold.
 */
const MOST_UPDATES = 20;
const MOST_BYTES = 16_777_216;
const LONGEST_TEXT = 4_096;

const MOST_UPDATE = 4_294_967_295;

const whole = z.int();
const person = z.looseObject({ id: whole, is_bot: z.boolean() });
const update = z.looseObject({
  update_id: whole.min(0).max(MOST_UPDATE),
  message: z
    .looseObject({
      date: whole,
      chat: z.looseObject({ id: whole }),
      from: person.optional(),
      text: z.string().optional(),
    })
    .optional()
    .catch(undefined),
});
const updates = z.looseObject({ ok: z.literal(true), result: z.array(z.unknown()).max(MOST_UPDATES) });
const refusal = z.looseObject({ parameters: z.looseObject({ retry_after: whole.min(0).max(86_400) }) });
const me = z.looseObject({ ok: z.literal(true), result: z.looseObject({ username: z.string() }) });

/** What makes a message another one's words. */
const NOT_OWN = ["forward_origin", "forward_date", "forward_from", "via_bot", "sender_chat", "is_automatic_forward"];

/** Speaks the Bot API over HTTP, bounded in time and size. */
export function createBot(
  of: { readonly token: Secret; readonly server: string },
  around: { readonly timeoutMs: number; nowMs(): number; readonly fetch?: BoundedFetch | undefined },
): Bot {
  const { fetch = boundedFetch, timeoutMs } = around;
  const urlOf = (method: string): string => `${new URL(of.server).origin}/bot${of.token.reveal()}/${method}`;
  const ask = async (method: string, fields: object, { waitMs, signal }: { waitMs: number; signal: AbortSignal }) =>
    await fetch({
      ...{ url: urlOf(method), method: "POST", headers: { "content-type": "application/json" } },
      ...{ body: JSON.stringify(fields), timeoutMs: timeoutMs + waitMs, maxBytes: MOST_BYTES, signal },
    });
  return {
    id: of.token.reveal().split(":")[0] ?? "",
    host: hostOf(of.server),
    name: async (signal) => {
      try {
        const { text } = await ask("getMe", {}, { waitMs: 0, signal });
        return me.safeParse(jsonOf(text)).data?.result.username;
      } catch (error) {
        if (error instanceof FetchError) return undefined;
        throw error;
      }
    },
    hear: async ({ update: offset, waitSeconds }, signal) => {
      const fields = { timeout: waitSeconds, limit: MOST_UPDATES, allowed_updates: ["message"] };
      const waitMs = waitSeconds * 1_000;
      try {
        const answer = await ask(
          "getUpdates",
          { ...fields, ...(offset === undefined ? {} : { offset }) },
          { waitMs, signal },
        );
        return readHeard(answer, around.nowMs());
      } catch (error) {
        if (error instanceof FetchError) return { ok: false, detail: error.message, afterMs: undefined };
        throw error;
      }
    },
    say: async (chat, text, signal) => {
      const post = createPost({ timeoutMs, signal, nowMs: around.nowMs(), fetch });
      const fields = { chat_id: chat, text: text.slice(0, LONGEST_TEXT), link_preview_options: { is_disabled: true } };
      const headers = { "content-type": "application/json" };
      const said = await post({ url: new Secret(urlOf("sendMessage")), headers, body: JSON.stringify(fields) });
      return said.kind === "delivered" ? undefined : said.detail;
    },
  };
}

function readHeard({ status, text, header }: BoundedResponse, nowMs: number): Heard {
  const json = jsonOf(text);
  const read = status === 200 ? updates.safeParse(json) : undefined;
  if (read?.success !== true) {
    const asked = refusal.safeParse(json).data?.parameters.retry_after;
    const afterMs = readRetryAfter(header("retry-after"), nowMs) ?? (asked === undefined ? undefined : asked * 1_000);
    return {
      ok: false,
      detail: status === 200 ? "its answer is not that of a bot's server" : `HTTP ${status}`,
      afterMs,
    };
  }
  const known = read.data.result.flatMap((one) => update.safeParse(one).data ?? []);
  const next = known.length === 0 ? undefined : Math.max(...known.map(({ update_id: id }) => id)) + 1;
  const saidMs = Date.parse(header("date") ?? "");
  return {
    ...{ ok: true, next, isAll: read.data.result.length < MOST_UPDATES },
    ...{ nowSeconds: Number.isNaN(saidMs) ? undefined : Math.floor(saidMs / 1_000) },
    messages: known.flatMap(({ update_id: updateId, message }) => {
      if (message?.text === undefined) return [];
      const { date: atSeconds, chat, from, text: words } = message;
      const isOwn = from?.is_bot === false && !NOT_OWN.some((key) => key in message);
      return { updateId, atSeconds, chat: String(chat.id), user: from && String(from.id), text: words, isOwn };
    }),
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

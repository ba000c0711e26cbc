import { readBody, startHttpServer } from "./http-server.ts";

/**
 * Doubles of the services that people are notified by, each written from the service's published documentation alone:
 * what it asks for is checked, and anything else is answered as the documentation says. None of them was compared with the
 * service itself.
 */

/** One message that a double took: its path and its fields. */
export interface TakenMessage {
  readonly path: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

interface Asked extends TakenMessage {
  readonly method: string;
  readonly authorization: string | undefined;
}

/** What a service answers. */
interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

type Service = (asked: Asked) => Answer;

/** Starts a double. Before it answers as its service, it gives the answers that are in `first`, one each. */
export async function startDouble(service: Service, first: Answer[] = []) {
  const taken: TakenMessage[] = [];
  const { url } = await startHttpServer(async (request, response) => {
    const text = await readBody(request);
    const isJson = request.headers["content-type"] === "application/json";
    const asked: Asked = {
      ...{ method: request.method ?? "", path: request.url ?? "", authorization: request.headers.authorization },
      fields: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
    };
    const answer = first.shift() ?? (isJson ? service(asked) : { status: 400, body: { error: "no JSON" } });
    if (answer.status >= 200 && answer.status < 300) taken.push({ path: asked.path, fields: asked.fields });
    response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
    response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
  });
  return { url, taken };
}

/** Whether all fields are known ones and those that are needed are texts of at most these lengths. */
function hasForm(
  fields: Readonly<Record<string, unknown>>,
  needed: Readonly<Record<string, number>>,
  others: readonly string[],
): boolean {
  const isKnown = Object.keys(fields).every((name) => name in needed || others.includes(name));
  return isKnown && Object.entries(needed).every(([name, most]) => isText(fields[name], most));
}

function isText(value: unknown, most: number): boolean {
  return typeof value === "string" && value.length > 0 && [...value].length <= most;
}

const noTelegram = (error_code: number, description: string) => ({
  status: error_code,
  body: { ok: false, error_code, description },
});

/** https://core.telegram.org/bots/api#sendmessage */
export const telegramService =
  (token: string, chat: string): Service =>
  ({ method, path, fields }) => {
    if (path !== `/bot${token}/sendMessage`) return noTelegram(401, "Unauthorized");
    const others = ["message_thread_id", "link_preview_options", "disable_notification"];
    if (method !== "POST" || !hasForm(fields, { chat_id: 32, text: 4_096 }, others))
      return noTelegram(400, "Bad Request: message text is empty or too long");
    if (fields.chat_id !== chat) return noTelegram(400, "Bad Request: chat not found");
    return { status: 200, body: { ok: true, result: { message_id: 1, date: 1, text: fields.text } } };
  };

/** https://discord.com/developers/docs/resources/webhook#execute-webhook */
export const discordService: Service = ({ method, path, fields }) => {
  if (!/^\/api\/webhooks\/[0-9]+\/[\w-]+$/.test(path))
    return { status: 404, body: { message: "Unknown Webhook", code: 10_015 } };
  const isRight = method === "POST" && hasForm(fields, { content: 2_000 }, ["allowed_mentions", "flags"]);
  return isRight ? { status: 204 } : { status: 400, body: { message: "Invalid Form Body", code: 50_035 } };
};

/** https://api.slack.com/messaging/webhooks */
export const slackService: Service = ({ method, path, fields }) => {
  if (!/^\/services\/T\w+\/B\w+\/\w+$/.test(path)) return { status: 404, body: "no_team" };
  const isRight = method === "POST" && hasForm(fields, { text: 40_000 }, ["mrkdwn", "unfurl_links", "unfurl_media"]);
  return isRight ? { status: 200, body: "ok" } : { status: 400, body: "invalid_payload" };
};

/** https://spec.matrix.org/v1.11/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid */
export const matrixService = (token: string, room: string): Service => {
  const events = new Map<string, number>();
  return ({ method, path, authorization, fields }) => {
    if (authorization !== `Bearer ${token}`) return { status: 401, body: { errcode: "M_UNKNOWN_TOKEN", error: "who" } };
    const start = `/_matrix/client/v3/rooms/${encodeURIComponent(room)}/send/m.room.message/`;
    if (method !== "PUT" || !path.startsWith(start))
      return { status: 403, body: { errcode: "M_FORBIDDEN", error: "" } };
    if (fields.msgtype !== "m.text" || !hasForm(fields, { msgtype: 10, body: 65_536 }, ["m.mentions"]))
      return { status: 400, body: { errcode: "M_BAD_JSON", error: "" } };
    const event = events.get(path) ?? events.size;
    events.set(path, event);
    return { status: 200, body: { event_id: `$${event}` } };
  };
};

/** https://pushover.net/api */
export const pushoverService =
  (token: string, user: string): Service =>
  ({ method, path, fields }) => {
    const wrong = (error: string) => ({ status: 400, body: { status: 0, errors: [error], request: "1" } });
    if (method !== "POST" || path !== "/1/messages.json") return { status: 404 };
    if (fields.token !== token || fields.user !== user) return wrong("application token or user key is invalid");
    const others = ["device", "timestamp", "priority", "retry", "expire"];
    if (!hasForm(fields, { token: 30, user: 30, title: 250, message: 1_024 }, others))
      return wrong("message is too long");
    const { priority, retry, expire } = fields;
    if (priority === 2 && !(Number(retry) >= 30 && Number(expire) <= 10_800))
      return wrong("retry and expire are required for priority 2");
    return { status: 200, body: { status: 1, request: "1" } };
  };

/** https://github.com/caronc/apprise-api#api-details */
export const appriseService: Service = ({ method, path, fields }) => {
  const isRight = method === "POST" && hasForm(fields, { body: 32_768 }, ["title", "type", "format", "tag", "urls"]);
  const isKnownType = ["info", "success", "warning", "failure"].includes(String(fields.type));
  if (!isRight || !isKnownType) return { status: 400, body: { error: "Minimum payload requirements not met" } };
  if (path === "/notify") return typeof fields.urls === "string" ? { status: 200 } : { status: 400 };
  if (path === "/notify/empty") return { status: 204 };
  return path === "/notify/house" ? { status: 200 } : { status: 424, body: { error: "One or more failed" } };
};

import { hostOf, Secret } from "../../../net/secret.ts";
import { botTokenProblem, TELEGRAM_API } from "../bot.ts";
import { type ChannelMessage, channelKind, optional, secret, serverProblem, text } from "../channel-kind.ts";
import { readPasted } from "../pasted-url.ts";
import { bodyOf, titleOf } from "../words.ts";

const CHAT = /^(?:-?[0-9]{1,20}|@[A-Za-z][A-Za-z0-9_]{4,31})$/;
const TOPIC = /^[0-9]{1,12}$/;
const LONGEST_TEXT = 4_096;

const chatProblem = (chat: string) =>
  CHAT.test(chat) ? undefined : 'is no chat; it is a number in quotes, "-1001234567890", or @name of a public one';
const topicProblem = (topic: string) => (TOPIC.test(topic) ? undefined : "is no topic; it is a number in quotes");

/** Messages of a bot of Telegram to one chat, as plain text: nothing in it means anything there. */
export const telegram = channelKind(
  {
    token: secret("the token of the bot, from @BotFather", botTokenProblem),
    chat: text("the chat: its number, or @name of a public one", "-1001234567890", chatProblem),
    topic: optional(text("the topic of a group with topics, by its number", "7", topicProblem)),
    server: optional(text(`a Bot API server of one's own; without it ${TELEGRAM_API}`, TELEGRAM_API, serverProblem)),
  },
  ({ token, chat, topic, server = TELEGRAM_API }) => ({
    host: hostOf(server),
    send: async (message, { post }) =>
      await post({
        url: new Secret(`${new URL(server).origin}/bot${token.reveal()}/sendMessage`),
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          chat_id: chat,
          ...(topic === undefined ? {} : { message_thread_id: Number(topic) }),
          ...noteOf(message),
        }),
      }),
  }),
  { form: "tgram://TOKEN/CHAT", holds: ["token", "chat", "topic"], read: readTgram },
);

function noteOf(message: ChannelMessage) {
  const title = `${titleOf(message)}\n`;
  const text = `${title}${bodyOf(message, LONGEST_TEXT - title.length)}`;
  const silence = message.isSilent ? { disable_notification: true } : {};
  return { text, link_preview_options: { is_disabled: true }, ...silence };
}

function readTgram(url: string) {
  const parts = readPasted(url, { schemes: ["tgram"] });
  const [place, ...others] = parts?.path ?? [];
  if (parts === undefined || place === undefined || others.length > 0) return undefined;
  const [chat, topic] = place.split(":");
  return { token: parts.place, chat, topic };
}

import type { ChatMessage } from "../../adapters/notify/bot.ts";

/** What may be asked for by chat. */
export const CHAT_COMMANDS = ["status", "why", "profit", "pause", "halt", "resume", "run", "approve"] as const;
export type ChatCommand = (typeof CHAT_COMMANDS)[number];

/** Those that trade, or let trade: they need a code. */
const NEEDS_CODE: readonly ChatCommand[] = ["resume", "run", "approve"];

/** Who may ask for what, and where. */
export interface ChatTerms {
  readonly chat: string;
  readonly users: readonly string[];
  readonly allow: readonly ChatCommand[];
}

/** What is asked for, in its own words. */
export interface Asked {
  readonly command: ChatCommand;
  /** a strategy or a run; undefined: everything */
  readonly about: string | undefined;
}

/** How a message is understood. */
export type Understood =
  | { readonly kind: "ignored" }
  | { readonly kind: "unfit"; readonly reply: string }
  | { readonly kind: "asked"; readonly asked: Asked; readonly needsCode: boolean }
  | { readonly kind: "code"; readonly code: string };

/** A message that is older was sent to somebody who did not listen. */
export const LONGEST_AGE_SECONDS = 60;

const COMMAND = /^\/([a-z]{2,16})(?:@([A-Za-z0-9_]{1,64}))?(?:\s+(\S{1,96}))?\s*$/;
const ABOUT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$/;

/** Whether a message is one of those whose sender and place are known. Of all others nothing is said. */
export function isOurs({ chat, user, isOwn }: ChatMessage, terms: ChatTerms): boolean {
  return isOwn && chat === terms.chat && user !== undefined && terms.users.includes(user);
}

const NAMELESS =
  "not taken, because the service does not say what my own name is: send it without the @ and what follows";

/** Understands a message of somebody who is known. @param own the bot's name: in a group others have commands too */
export function understand(text: string, { allow }: ChatTerms, own: string | undefined): Understood {
  const [, word = "", to, about] = COMMAND.exec(text.trim()) ?? [];
  const isForOther = to !== undefined && own !== undefined && to.toLowerCase() !== own.toLowerCase();
  if (!text.trim().startsWith("/") || isForOther) return { kind: "ignored" };
  // It may be for us: a halt must not be lost without a word.
  if (to !== undefined && own === undefined) return { kind: "unfit", reply: NAMELESS };
  if (word === "yes") return { kind: "code", code: about ?? "" };
  const command = CHAT_COMMANDS.find((one) => one === word);
  const known = `known here: ${allow.map((one) => `/${one}`).join(", ")}`;
  if (command === undefined) return { kind: "unfit", reply: `that is no command; ${known}` };
  if (!allow.includes(command)) return { kind: "unfit", reply: `/${command} is switched off here; ${known}` };
  const wrong = wrongName(command, about);
  if (wrong !== undefined) return { kind: "unfit", reply: `/${command} ${wrong}` };
  return { kind: "asked", asked: { command, about }, needsCode: NEEDS_CODE.includes(command) };
}

function wrongName(command: ChatCommand, about: string | undefined): string | undefined {
  if (about !== undefined) return ABOUT.test(about) ? undefined : "is followed by what is no name";
  if (command === "approve") return "needs the id of a run";
  return command === "why" || command === "run" ? "needs the name of a strategy" : undefined;
}

/** What is to be done, in words. */
export function describeAsked({ command, about = "everything" }: Asked): string {
  return `${command} ${about}`;
}

import { connect, type Socket } from "node:net";
import { createTransport } from "nodemailer";
import { codeOf } from "../../net/error-code.ts";
import type { Delivery } from "./post.ts";

/** A mail server, and who sends by it. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** encrypted from the first byte on; else by STARTTLS */
  readonly isTls: boolean;
  readonly login: { readonly user: string; readonly pass: string } | undefined;
}

/** One mail of plain text. */
export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly nowMs: number;
  readonly isUrgent: boolean;
  /** the same for each try: a mailbox that knows it shows one mail */
  readonly id: string;
  /** the id of the mail that this one belongs under */
  readonly answers: string | undefined;
}

/** For everything: connection, encryption, login and the mail. */
const WITHIN_MS = 30_000;

const PORTS: Readonly<Record<string, number>> = { "smtp:": 587, "smtps:": 465 };

/** This machine itself, to which a password may go in the clear. */
const LOOPBACK = /^(?:localhost|127\.[0-9.]+|::1)$/;

/** @returns undefined when it is no URL of a mail server */
export function readServer(url: string): SmtpServer | undefined {
  const parsed = URL.parse(url);
  const usual = PORTS[parsed?.protocol ?? ""];
  if (parsed === null || usual === undefined || parsed.hostname === "") return undefined;
  if (!["", "/"].includes(parsed.pathname) || parsed.search !== "") return undefined;
  try {
    const [user, pass] = [parsed.username, parsed.password].map((part) => decodeURIComponent(part));
    const login = user === undefined || user === "" ? undefined : { user, pass: pass ?? "" };
    const host = parsed.hostname.replace(/^\[(.*)\]$/, "$1");
    return { host, port: parsed.port === "" ? usual : Number(parsed.port), isTls: parsed.protocol === "smtps:", login };
  } catch {
    return undefined;
  }
}

/** Sends a mail once. Whatever a server says of it, it may take it later: most often it is the account that is wrong. */
export async function sendMail(server: SmtpServer, mail: Mail, signal: AbortSignal): Promise<Delivery> {
  const { host, port, isTls, login } = server;
  const until = AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]);
  const transport = createTransport({
    ...{ host, port, secure: isTls, requireTLS: !isTls && login !== undefined && !LOOPBACK.test(host) },
    ...(login === undefined ? {} : { auth: login }),
    ...{ disableFileAccess: true, disableUrlAccess: true },
    getSocket: (_: unknown, answer: (error: Error | null, opened?: { connection: Socket }) => void) => {
      openSocket(server, until).then(
        (connection) => answer(null, { connection }),
        (error: Error) => answer(error),
      );
    },
  });
  try {
    const { response, rejected } = await transport.sendMail(messageOf(mail));
    const but = rejected.length === 0 ? "" : `, and ${rejected.length} of ${mail.to.length} addresses did not take it`;
    return { kind: "delivered", detail: `SMTP ${/^[0-9]{3}/.exec(response)?.[0] ?? ""}${but}` };
  } catch (error) {
    return { kind: "later", detail: `${host}:${port}: ${until.aborted ? "no answer in time" : troubleOf(error)}` };
  } finally {
    transport.close();
  }
}

/** A socket that ends with the signal, whatever it is used for then. */
async function openSocket({ host, port }: SmtpServer, until: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({ host, port });
  const giveUp = (): void => void socket.destroy(new Error("given up"));
  until.addEventListener("abort", giveUp);
  if (until.aborted) giveUp();
  socket.once("close", () => until.removeEventListener("abort", giveUp));
  socket.once("connect", () => resolve(socket));
  socket.once("error", reject);
  return await promise;
}

function messageOf({ from, to, subject, text, nowMs, isUrgent, id, answers }: Mail) {
  const idOf = (word: string): string => `<${word}@swapd>`;
  return {
    ...{ from: { name: "swapd", address: from }, to: to.map((address) => ({ name: "", address })), subject, text },
    ...({ messageId: idOf(id), date: new Date(nowMs), priority: isUrgent ? "high" : "normal" } as const),
    ...(answers === undefined ? {} : { inReplyTo: idOf(answers), references: [idOf(answers)] }),
    headers: { "Auto-Submitted": "auto-generated" },
  };
}

/** What a server answered, by its number alone: its words may repeat the name and the password. */
function troubleOf(error: unknown): string {
  const said = typeof error === "object" && error !== null && "responseCode" in error ? error.responseCode : undefined;
  if (typeof said === "number") return `SMTP ${said}`;
  const code = codeOf(error);
  // Of a connection the system's words say why, a certificate for example.
  const isOfSocket = code === "ESOCKET" && error instanceof Error;
  return `no complete answer (${isOfSocket ? error.message.slice(0, LONGEST_REASON) : code})`;
}

const LONGEST_REASON = 120;

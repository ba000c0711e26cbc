import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { onTestFinished } from "vitest";

/** One mail that the server took. */
export interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
  readonly isEncrypted: boolean;
  readonly user: string | undefined;
}

/** A real mail server on a free port of this machine; it is closed when the running test ends. */
export async function startMailServer(options: SMTPServerOptions = {}) {
  const mails: TakenMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    logger: false,
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? "" : (mailFrom?.address ?? ""),
          to: rcptTo.map(({ address }) => address),
          source: Buffer.concat(chunks).toString("utf8"),
          isEncrypted: session.secure,
          user: typeof session.user === "string" ? session.user : undefined,
        });
        done();
      });
    },
    ...options,
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", () => resolve()));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  const address = server.server.address();
  if (address === null || typeof address === "string") throw new Error("a mail server without a port");
  return { port: address.port, mails };
}

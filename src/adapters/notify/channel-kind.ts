import type { Severity } from "../../domain/run/alert.ts";
import type { ChannelForm, ChannelOption, ChannelOptions, PastedForm } from "../../domain/run/alert-channel.ts";
import type { Secret } from "../../net/secret.ts";
import type { Delivery, Post } from "./post.ts";

/** What one channel is to send. Secrets are removed from its texts. */
export interface ChannelMessage {
  /** the same for each try of the same message, and of no other: a receiver recognises by it what it has already */
  readonly id: string;
  /** that an alert is over: the `id` of the message that reported it; else undefined */
  readonly ends: string | undefined;
  readonly severity: Severity;
  /** it is to be there, and to make no sound */
  readonly isSilent: boolean;
  readonly code: string;
  readonly subject: string;
  readonly text: string;
  readonly strategy: string | undefined;
  readonly runId: string | undefined;
  readonly network: string;
  /** when it became true, or happened, or was over */
  readonly atMs: number;
}

/** What a channel sends with. */
export interface Sending {
  readonly nowMs: number;
  /** Sends one request over HTTP, bounded in time and size. */
  readonly post: Post;
  /** gives up what is under way */
  readonly signal: AbortSignal;
}

/** One channel, opened. */
export interface Channel {
  /** whom it asks: all of its address that may be shown */
  readonly host: string;
  /**
   * Sends one message, once; the `detail` of its outcome shows nothing secret. It throws nothing: what is thrown is a
   * mistake of ours and stops the daemon.
   */
  send(message: ChannelMessage, sending: Sending): Promise<Delivery>;
}

type Needed<IsSecret extends boolean> = ChannelOption & { readonly isSecret: IsSecret; readonly isOptional: false };
type LeftOut<Option extends ChannelOption> = Omit<Option, "isOptional"> & { readonly isOptional: true };

type ValueOf<Option extends ChannelOption> =
  | (Option["isSecret"] extends true ? Secret : string)
  | (Option["isOptional"] extends true ? undefined : never);

/** Values by the names of their options. */
type ValuesOf<Options extends ChannelOptions> = { readonly [Name in keyof Options]: ValueOf<Options[Name]> };

/** Values of options as they stand in a URL; what it leaves out is not in it. */
type PastedValues = Readonly<Record<string, string | undefined>>;

/** How the one URL of such a channel is read. */
export interface Pasted extends PastedForm {
  /** @returns undefined when a URL is not of this form */
  read(url: string): PastedValues | undefined;
}

/** A kind of channel: what its file gives. */
export interface ChannelKind extends ChannelForm {
  readonly pasted: Pasted | undefined;
  /** @param values of all options, each of them in order */
  open(values: Readonly<Record<string, Secret | string | undefined>>): Channel;
}

/** A kind of channel from its options, from what is opened with their values, and from a URL that holds them. */
export function channelKind<Options extends ChannelOptions>(
  options: Options,
  open: (values: ValuesOf<Options>) => Channel,
  pasted?: Pasted,
): ChannelKind {
  return { options, pasted, open: (values) => open(values as ValuesOf<Options>) };
}

const nothingWrong = (): undefined => undefined;

/** An option that is a secret: a URL that carries a key, a token. */
export function secret(description: string, problem: ChannelOption["problem"] = nothingWrong): Needed<true> {
  return { description, isSecret: true, isOptional: false, example: undefined, problem };
}

/** An option that everybody may read. */
export function text(
  description: string,
  example: string,
  problem: ChannelOption["problem"] = nothingWrong,
): Needed<false> {
  return { description, isSecret: false, isOptional: false, example, problem };
}

/** An option that may be left out. */
export function optional<Option extends ChannelOption>(option: Option): LeftOut<Option> {
  return { ...option, isOptional: true };
}

/** What is wrong with a URL to post to. */
export function urlProblem(value: string): string | undefined {
  const protocol = URL.parse(value)?.protocol;
  return protocol === "http:" || protocol === "https:" ? undefined : "is no http or https URL";
}

/** What is wrong with the address of a server, which everybody may read. */
export function serverProblem(server: string): string | undefined {
  const wrong = urlProblem(server);
  if (wrong !== undefined) return wrong;
  const { href, origin } = new URL(server);
  return href === `${origin}/` ? undefined : "is more than a server; write for example https://push.example";
}

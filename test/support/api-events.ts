import { onTestFinished } from "vitest";
import type { ApiLife } from "./api-life.ts";

/** An event as it was heard. */
export interface Heard {
  readonly id: string;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: events of any shape, which the tests look into
  readonly data: any;
}

/** One who hears events: what was heard grows. */
export interface Listener {
  readonly heard: Heard[];
  /** resolves when the stream has ended, by either side */
  readonly ended: Promise<void>;
  stop(): void;
}

/** Follows the events from a place on, with the token of `read` or headers of one's own. */
export function listen(
  life: Pick<ApiLife, "url" | "tokens">,
  lastId?: string,
  headers: Readonly<Record<string, string>> = { authorization: `Bearer ${life.tokens.read}` },
): Listener {
  const heard: Heard[] = [];
  const stopping = new AbortController();
  const sent = { ...headers, ...(lastId === undefined ? {} : { "last-event-id": lastId }) };
  const read = async (): Promise<void> => {
    const { body } = await fetch(`${life.url}/api/v1/events`, { headers: sent, signal: stopping.signal });
    let text = "";
    for await (const chunk of body ?? []) {
      text += new TextDecoder().decode(chunk);
      const parts = text.split("\n\n");
      text = parts.pop() ?? "";
      heard.push(...parts.flatMap(parse));
    }
  };
  const ended = read().catch(() => undefined);
  const stop = (): void => stopping.abort();
  onTestFinished(stop);
  return { heard, ended, stop };
}

function parse(text: string): Heard[] {
  const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(text)?.[1] ?? "";
  return field("event") === "" ? [] : [{ id: field("id"), event: field("event"), data: JSON.parse(field("data")) }];
}

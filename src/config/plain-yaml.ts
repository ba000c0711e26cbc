import {
  EVENT_DOCUMENT,
  EVENT_MAPPING,
  EVENT_POP,
  EVENT_SCALAR,
  EVENT_SEQUENCE,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE_PLAIN,
  type ScalarEvent,
  YAMLException,
} from "js-yaml";
import { plainScalar } from "./plain-scalar.ts";

/** Characters of which a plain file consists; tabs, carriage returns and marks of byte order are the strict reader's. */
const PLAIN_TEXT = /^[\x20-\x7e\n]*$/;
/** The end of a document: in front of the first one this reader would not see it, and the strict one sees two documents. */
const DOCUMENT_END = /^\.\.\./m;
const MAX_DEPTH = 8;

/** What is not plain leaves the reader at once; never seen outside of this file. */
class NotPlain extends Error {}

/**
 * Reads a YAML file in which nothing is unusual: one document, maps with plain keys, lists, texts and numbers. Several
 * times as fast as the reader that knows the place of each value and can say what is wrong; whatever that one might
 * complain about is not read here.
 * @returns the data, or undefined: then the strict reader decides
 */
export function readPlainYaml(text: string): Record<string, unknown> | undefined {
  if (!PLAIN_TEXT.test(text) || DOCUMENT_END.test(text)) return undefined;
  try {
    const events = parseEvents(text, { maxDepth: MAX_DEPTH });
    const [document, map] = events;
    const isOneDocument = document?.type === EVENT_DOCUMENT && events.at(-1)?.type === EVENT_POP;
    if (!isOneDocument || document.explicitStart || document.explicitEnd || map?.type !== EVENT_MAPPING)
      return undefined;
    const reading: Reading = { text, events, next: 1 };
    const data = readNode(reading) as Record<string, unknown>;
    // after the map only the end of the document
    return reading.next === events.length - 1 ? data : undefined;
  } catch (error) {
    if (error instanceof NotPlain || error instanceof YAMLException) return undefined;
    throw error;
  }
}

interface Reading {
  readonly text: string;
  readonly events: readonly Event[];
  next: number;
}

function readNode(reading: Reading): unknown {
  const event = take(reading);
  if (event.type !== EVENT_SCALAR && event.type !== EVENT_SEQUENCE && event.type !== EVENT_MAPPING)
    throw new NotPlain();
  if (event.anchorStart >= 0 || event.tagStart >= 0) throw new NotPlain();
  if (event.type === EVENT_SCALAR) return readScalar(reading, event);
  return event.type === EVENT_MAPPING ? readMap(reading) : readList(reading);
}

function readMap(reading: Reading): Record<string, unknown> {
  const data: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  while (!isAtEnd(reading)) {
    const event = take(reading);
    if (event.type !== EVENT_SCALAR || event.anchorStart >= 0 || event.tagStart >= 0) throw new NotPlain();
    const key = textOf(reading, event);
    if (!/^[A-Za-z_][\w-]*$/.test(key) || key in data) throw new NotPlain();
    data[key] = readNode(reading);
  }
  reading.next += 1;
  return data;
}

function readList(reading: Reading): unknown[] {
  const list: unknown[] = [];
  while (!isAtEnd(reading)) list.push(readNode(reading));
  reading.next += 1;
  return list;
}

function readScalar(reading: Reading, event: ScalarEvent): unknown {
  const text = textOf(reading, event);
  if (event.style !== SCALAR_STYLE_PLAIN) return text;
  const scalar = plainScalar(text);
  if (!("value" in scalar) || scalar.value === null) throw new NotPlain();
  return scalar.value;
}

/** Only texts that stand in one line as they are: no escapes, no folding. */
function textOf(reading: Reading, event: ScalarEvent): string {
  if (!event.fast || reading.text.slice(event.valueStart, event.valueEnd).includes("\n")) throw new NotPlain();
  return getScalarValue(reading.text, event);
}

function take(reading: Reading): Event {
  const event = reading.events[reading.next];
  if (event === undefined) throw new NotPlain();
  reading.next += 1;
  return event;
}

function isAtEnd(reading: Reading): boolean {
  return reading.events[reading.next]?.type === EVENT_POP;
}

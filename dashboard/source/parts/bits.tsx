import type { ComponentChildren } from "preact";
import type { Money } from "../answers.ts";
import { now } from "../clock.ts";
import { dollars, shareOf, shorten, shortHex } from "../format/decimal.ts";
import { clockTime, relative, tableTime } from "../format/time.ts";
import { inWords, type Tone, toneOf } from "../format/words.ts";
import { useReading } from "../resource.ts";

export function Badge({ state, tone }: { readonly state: string; readonly tone?: Tone }) {
  return <span class={`badge ${tone ?? toneOf(state)}`}>{inWords(state)}</span>;
}

/** How far an instant is away; the clock's time is its title. */
export function Ago({ instant }: { readonly instant: string }) {
  return (
    <time dateTime={instant} title={clockTime(instant)}>
      {relative(instant, now.value)}
    </time>
  );
}

/** How long until an instant; one that is past is due. */
export function Countdown({ instant }: { readonly instant: string }) {
  const isDue = Date.parse(instant) <= now.value;
  return (
    <time dateTime={instant} title={clockTime(instant)}>
      {isDue ? "due now" : relative(instant, now.value)}
    </time>
  );
}

/** The clock's time of an instant; its day where it is another one than today. */
export function At({ instant }: { readonly instant: string }) {
  return (
    <time dateTime={instant} title={`${clockTime(instant)}, ${instant}`}>
      {tableTime(instant, now.value)}
    </time>
  );
}

/** An amount of a token, shortened; the whole of it is its title. */
export function Amount({ money, digits }: { readonly money: Money; readonly digits?: number }) {
  return (
    <span class="amount" title={`${money.amount} ${money.symbol} (${money.address})`}>
      {shorten(money.amount, digits)} <span class="symbol">{money.symbol}</span>
    </span>
  );
}

export function Dollars({ value }: { readonly value: string | null }) {
  if (value === null) return <span class="faint">no price</span>;
  return (
    <span class="amount" title={`${value} USD`}>
      {dollars(value)}
    </span>
  );
}

interface HexProps {
  readonly text: string;
  readonly kind: "tx" | "address";
}

/** An address or a hash, with a link to the network's explorer where one is known. */
export function Hex({ text, kind }: HexProps) {
  const explorer = useReading("getInfo", "/info").value?.network.explorer ?? null;
  const short = <code title={text}>{shortHex(text)}</code>;
  const isSafe = explorer !== null && /^https?:\/\//.test(explorer) && /^0x[0-9a-fA-F]+$/.test(text);
  if (!isSafe) return short;
  return (
    <a href={`${explorer}${kind}/${text}`} target="_blank" rel="noopener noreferrer">
      {short}
      <span class="unseen"> (opens the explorer)</span>
    </a>
  );
}

/** A text of ours with its addresses and hashes cut short; the whole text is its title. */
export function CutHex({ text }: { readonly text: string }) {
  const parts = text.split(/(0x[0-9a-fA-F]{24,}|\d{30,})/);
  if (parts.length === 1) return <>{text}</>;
  return (
    <span title={text}>
      {parts.map((part, place) => {
        const isCut = place % 2 === 1;
        return isCut ? <code key={place}>{shortHex(part)}</code> : part;
      })}
    </span>
  );
}

interface MeterProps {
  readonly label: ComponentChildren;
  /** what is used, as text for numbers */
  readonly used: string;
  readonly limit: string;
  readonly left: string;
  readonly note?: ComponentChildren;
}

/** A bar of what is used of a limit; all that it shows stands beside it in words. */
export function Meter({ label, used, limit, left, note }: MeterProps) {
  const percent = Math.round(shareOf(used, limit) * 100);
  const tone = percent >= 100 ? "bad" : percent >= 80 ? "warn" : "";
  return (
    <div class="meter">
      <div class="meter-text">
        <span>{label}</span>
        <span class="amount">{left}</span>
      </div>
      <div class="track" aria-hidden="true">
        <div class={`fill ${tone}`} style={{ width: `${percent}%` }} />
      </div>
      {note !== undefined && <div class="meter-note">{note}</div>}
    </div>
  );
}

/** A table that scrolls sideways by itself where the screen is narrow. */
export function Table({ caption, head, class: name, children }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by the keyboard
    <section class="wide" aria-label={`${caption}, table`} tabIndex={0}>
      <table class={name}>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {head.map((cell) => (
              <th scope="col" key={cell.replace("#", "")} class={cell.startsWith("#") ? "number" : undefined}>
                {cell.replace("#", "")}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

interface TableProps {
  readonly caption: string;
  /** titles of columns; `#` before one of numbers */
  readonly head: readonly string[];
  readonly class?: string;
  readonly children: ComponentChildren;
}

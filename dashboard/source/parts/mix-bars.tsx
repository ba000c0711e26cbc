import type { Mix } from "../answers.ts";
import { percent } from "../format/decimal.ts";
import { scaleEnd, type WeightBar, weightBar } from "../model/weights.ts";
import { linkToStrategy } from "../route.ts";
import { Badge } from "./bits.tsx";

const TONES = { inside: "good", "near the edge": "warn", outside: "bad", unknown: "calm" } as const;

const KEY = [
  ["key-target", "target"],
  ["key-soft", "soft band"],
  ["key-hard", "hard band"],
  ["key-weight", "now"],
] as const;

/** Tokens of a mix against their targets and bands. */
export function MixBars({ mix }: { readonly mix: Mix }) {
  const bars = mix.weights.map(weightBar);
  const end = scaleEnd(bars);
  return (
    <div class="mix">
      <h3>
        <a href={linkToStrategy(mix.strategy)}>{mix.strategy}</a>
      </h3>
      <ul>
        {bars.map((bar) => (
          <Bar bar={bar} end={end} key={bar.symbol} />
        ))}
      </ul>
      <p class="faint key">
        {KEY.map(([name, text]) => (
          <span class="key-item" key={name}>
            <span class={name} /> {text}
          </span>
        ))}
      </p>
    </div>
  );
}

function Bar({ bar, end }: { readonly bar: WeightBar; readonly end: number }) {
  const { symbol, weight, target, soft, hard, standing } = bar;
  const at = (value: number): string => `${(Math.min(Math.max(value, 0), end) / end) * 100}%`;
  const between = ([low, high]: readonly [number, number]) => ({
    left: at(low),
    width: `${((Math.min(high, end) - Math.min(low, end)) / end) * 100}%`,
  });
  return (
    <li>
      <div class="meter-text">
        <span>
          {symbol} <Badge state={standing} tone={TONES[standing]} />
        </span>
        <span class="amount">
          {weight === undefined ? "no price" : percent(`${weight}`)}{" "}
          <span class="faint">of {percent(`${target}`)}</span>
        </span>
      </div>
      <div class="mix-track" role="img" aria-label={sentence(bar)}>
        {hard !== undefined && <div class="hard" style={between(hard)} />}
        {soft !== undefined && <div class="soft" style={between(soft)} />}
        <div class="target" style={{ left: at(target) }} />
        {weight !== undefined && <div class={`weight ${TONES[standing]}`} style={{ left: at(weight) }} />}
      </div>
    </li>
  );
}

function sentence({ symbol, weight, target, soft, hard }: WeightBar): string {
  const range = (name: string, band: readonly [number, number] | undefined): string =>
    band === undefined ? "" : `, ${name} band ${band[0]} to ${band[1]} %`;
  const now = weight === undefined ? "weight unknown" : `${weight} %`;
  return `${symbol}: ${now}, target ${target} %${range("soft", soft)}${range("hard", hard)}`;
}

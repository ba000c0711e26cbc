import type { RunDetails } from "../answers.ts";
import { span } from "../format/time.ts";
import { inWords, toneOf } from "../format/words.ts";
import { At, Badge, CutHex } from "./bits.tsx";
import { Card } from "./card.tsx";

/** Every move of a run and of its swaps, with the time between them. */
export function Timeline({ details }: { readonly details: RunDetails }) {
  const names = new Map(details.run.swaps.map(({ id, sell, buy }) => [id, `${sell.symbol} → ${buy.symbol}`]));
  const { transitions } = details;
  return (
    <Card title="Timeline" class="broad">
      <ol class="timeline">
        {transitions.map((move, place) => {
          const before = transitions[place - 1];
          const waitedMs = before === undefined ? 0 : Date.parse(move.at) - Date.parse(before.at);
          return (
            <li key={`${move.id} ${move.to} ${move.at}`} class={toneOf(move.to)}>
              <span class="moment">
                <At instant={move.at} />
                {waitedMs >= 1_000 && <small class="faint"> +{span(waitedMs)}</small>}
              </span>
              <span>
                {move.subject === "run" ? "run" : (names.get(move.id) ?? "swap")} <Badge state={move.to} />{" "}
                {move.reason !== null && inWords(move.reason)}{" "}
                {move.detail !== null && (
                  <span class="faint">
                    <CutHex text={move.detail} />
                  </span>
                )}
              </span>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}

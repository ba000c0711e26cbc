import { inWords } from "../format/words.ts";
import { connection, moves } from "../live.ts";
import { linkToRun } from "../route.ts";
import { At, Badge } from "./bits.tsx";
import { Card, Empty } from "./card.tsx";

/** What happens while the page is open, move by move. */
export function LatestMoves() {
  const shown = moves.value.slice(0, 12);
  return (
    <Card title="Happening now">
      {shown.length === 0 ? (
        <Empty>
          {connection.value === "live"
            ? "Quiet since you opened this page. Moves of runs and swaps appear here by themselves."
            : "Not connected; what happens appears here once the connection stands."}
        </Empty>
      ) : (
        <ol class="moves">
          {shown.map((move) => (
            <li key={`${move.subject} ${move.id} ${move.to} ${move.at}`}>
              <At instant={move.at} /> <a href={linkToRun(move.run)}>{move.strategy ?? move.run}</a> {move.subject}{" "}
              <Badge state={move.to} /> {move.reason !== null && <span class="faint">{inWords(move.reason)}</span>}
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

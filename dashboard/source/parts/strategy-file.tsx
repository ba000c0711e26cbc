import type { Strategy } from "../answers.ts";
import { fileNews } from "../model/file-news.ts";
import { useReading } from "../resource.ts";
import { Card, Empty } from "./card.tsx";

/** The YAML as it is on the disk, with its mistakes at their lines. It is edited there, and nowhere else. */
export function StrategyFile({ strategy }: { readonly strategy: Strategy }) {
  const { file, yaml, problems } = strategy;
  const alerts = useReading("getStatus", "/status", { live: true }).value?.alerts ?? [];
  const news = fileNews(strategy, alerts);
  const byLine = Map.groupBy(problems, ({ line }) => line);
  return (
    <Card title={file === null ? "File" : `File ${file}`} class="broad">
      {news !== undefined && <p class="trouble">{news}</p>}
      {problems.length > 0 && (
        <ul class="problems">
          {problems.map(({ line, column, path, message, suggestion }) => (
            <li key={`${line} ${column} ${message}`}>
              line {line}, column {column}, <code>{path}</code>: {message} {suggestion}
            </li>
          ))}
        </ul>
      )}
      {yaml === null ? (
        <Empty>The file cannot be read. What is in force stays as it was read last.</Empty>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by the keyboard
        <section class="wide" aria-label="Text of the file, read-only" tabIndex={0}>
          <ol class="yaml">
            {yaml
              .trimEnd()
              .split("\n")
              .map((text, place) => (
                <li key={place} class={byLine.has(place + 1) ? "wrong" : undefined}>
                  <code>{text === "" ? " " : text}</code>
                </li>
              ))}
          </ol>
        </section>
      )}
      <p class="faint">
        Read-only. Edit the file on the machine of the daemon: a good edit applies from the next slot on, a bad one
        changes nothing and is said here.
      </p>
    </Card>
  );
}

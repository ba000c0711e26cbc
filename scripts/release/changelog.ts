/** A release's part of the changelog. */
export interface ChangelogSection {
  /** the whole line */
  readonly heading: string;
  /** one line a change */
  readonly changes: readonly string[];
}

/** What the changelog has under `## <name>`, whatever follows the name on that line; undefined where there is none. */
export function sectionOf(changelog: string, name: string): ChangelogSection | undefined {
  for (const part of changelog.split(/^(?=## )/m)) {
    const [heading = "", ...lines] = part.split("\n");
    if (heading.split(" ")[1] !== name) continue;
    return { heading, changes: lines.filter((line) => line.startsWith("- ")) };
  }
  return undefined;
}

/** The changelog with the day of its release behind a version that has none yet. */
export function dated(changelog: string, version: string, day: string): string {
  const heading = sectionOf(changelog, version)?.heading;
  if (heading === undefined || /\d{4}-\d\d-\d\d$/.test(heading)) return changelog;
  return changelog.replace(`${heading}\n`, `## ${version} - ${day}\n`);
}

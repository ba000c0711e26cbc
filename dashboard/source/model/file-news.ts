import type { Status, Strategy } from "../answers.ts";

/** What is true of files that were read and are not in force, whichever of them it is about. */
const NOT_TAKEN_OVER: ReadonlySet<string> = new Set(["CONFIGURATION_REFUSED", "RESTART_NEEDED"]);

/** What becomes of a strategy's file that is another one than what is in force; undefined where it is the same. */
export function fileNews(
  { isEdited, problems }: Pick<Strategy, "isEdited" | "problems">,
  alerts: Status["alerts"],
): string | undefined {
  if (!isEdited) return undefined;
  if (problems.length > 0) return "The file was changed and has mistakes: the settings from before stay in force.";
  // Files are taken over together: a mistake in another one, or an edit of the policy, holds this one back, too.
  const held = alerts.find(({ code }) => NOT_TAKEN_OVER.has(code));
  if (held !== undefined) return `The file was changed, and the settings from before stay in force: ${held.text}`;
  return "The file was changed; the daemon takes it over for the next slot.";
}

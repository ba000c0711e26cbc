import { asked } from "../actions.ts";
import type { ActionBody } from "../answers.ts";
import { mayOperate } from "../session.ts";

interface ActionButtonProps {
  readonly body: ActionBody;
  readonly text: string;
  /** what it acts on, for those who do not see where the button stands */
  readonly target: string;
  readonly class?: string;
}

/** Opens the question; without the right to act there is no button. */
export function ActionButton({ body, text, target, class: name }: ActionButtonProps) {
  if (!mayOperate()) return null;
  return (
    <button
      type="button"
      class={name}
      aria-label={`${text}: ${target}`}
      onClick={() => {
        asked.value = body;
      }}
    >
      {text}
    </button>
  );
}

/** What can be done to everything, or to one strategy, in the mode that it is in. */
export function ModeButtons({ mode, strategy }: { readonly mode: string; readonly strategy?: string }) {
  const target = strategy ?? "everything";
  const scope = strategy === undefined ? {} : { strategy };
  return (
    <>
      {mode !== "active" && (
        <ActionButton body={{ action: "resume", ...scope }} text="Resume" target={target} class="primary" />
      )}
      {mode !== "paused" && <ActionButton body={{ action: "pause", ...scope }} text="Pause" target={target} />}
      {mode !== "exits-only" && (
        <ActionButton body={{ action: "exits-only", ...scope }} text="Exits only" target={target} />
      )}
      {mode !== "halted" && (
        <ActionButton body={{ action: "halt", ...scope }} text="Halt" target={target} class="grave" />
      )}
    </>
  );
}

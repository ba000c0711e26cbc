import { useEffect, useRef, useState } from "preact/hooks";
import { asked, outcome, wordsOf } from "../actions.ts";
import type { ActionBody, ActionResult } from "../answers.ts";
import { act, newKey } from "../api.ts";
import { MODE_WORDS, modeText } from "../format/words.ts";
import { beat } from "../live.ts";
import { textOf } from "../model/problem.ts";
import { useReading } from "../resource.ts";

/** Asks once before something is done: what, to whom, with which mode, and why. */
export function ActionDialog() {
  const body = asked.value;
  return body === undefined ? null : <Question body={body} key={JSON.stringify(body)} />;
}

function Question({ body }: { readonly body: ActionBody }) {
  const dialog = useRef<HTMLDialogElement>(null);
  // One key for this question: a second press, or another try after a lost answer, acts once.
  const key = useRef(newKey());
  const [reason, setReason] = useState("");
  const [state, setState] = useState<{ isSending: boolean; trouble?: string }>({ isSending: false });
  useEffect(() => dialog.current?.showModal(), []);
  const words = wordsOf(body);
  const close = (): void => {
    asked.value = undefined;
  };
  // Who closes the question ends nothing that was asked for already.
  const isOpen = (): boolean => dialog.current !== null;
  const send = async (): Promise<void> => {
    setState({ isSending: true });
    try {
      say(await act({ ...body, ...(reason.trim() === "" ? {} : { reason: reason.trim() }) }, key.current));
      if (isOpen()) close();
    } catch (error) {
      const trouble = textOf(error);
      setState({ isSending: false, trouble });
      if (!isOpen()) outcome.value = { tone: "bad", text: `${words.title} ${trouble}. It may be done; see Record.` };
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="action-title" onClose={close}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          if (!state.isSending) void send();
        }}
      >
        <h2 id="action-title">{words.title}</h2>
        <ModeReminder />
        <p>{words.text}</p>
        <label>
          Why (for the record; may stay empty)
          <input
            type="text"
            maxLength={200}
            value={reason}
            // The key stands for what was sent with it: with another reason it would be refused.
            readOnly={state.isSending || state.trouble !== undefined}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </label>
        {state.trouble !== undefined && (
          <p class="trouble" role="alert">
            {state.trouble}. To press again is safe: it acts once.
          </p>
        )}
        <div class="buttons">
          <button type="button" onClick={close}>
            {state.isSending ? "Close" : "Cancel"}
          </button>
          <button type="submit" class={words.isGrave ? "grave" : "primary"} disabled={state.isSending}>
            {state.isSending ? "Asking…" : words.button}
          </button>
        </div>
      </form>
    </dialog>
  );
}

function ModeReminder() {
  const info = useReading("getInfo", "/info").value;
  if (info === undefined) return null;
  return (
    <p class={`mode-reminder ${info.mode}`}>
      {MODE_WORDS[info.mode].title}: {modeText(info.mode, info)}
    </p>
  );
}

function say(result: ActionResult): void {
  const what = `${result.action} of ${result.target}`;
  const answer = result.answer === null ? "" : `: ${result.answer}`;
  if (result.state === "done") outcome.value = { tone: "good", text: `Done: ${what}${answer}` };
  else if (result.state === "refused") outcome.value = { tone: "bad", text: `Refused: ${what}${answer}` };
  else outcome.value = { tone: "busy", text: `Asked: ${what}. The daemon has not answered yet; see Record.` };
  beat.value += 1;
}

import { signal } from "@preact/signals";
import type { ActionBody } from "./answers.ts";

/** What a person is about to ask for; the dialog asks once before it is sent. */
export const asked = signal<ActionBody | undefined>(undefined);

/** The last thing that an action came to, said aloud. */
export const outcome = signal<{ readonly tone: "good" | "bad" | "busy"; readonly text: string } | undefined>(undefined);

export interface ActionWords {
  readonly title: string;
  readonly text: string;
  readonly button: string;
  readonly isGrave: boolean;
}

/** What an action is and does, with what it acts on by name. */
export function wordsOf(body: ActionBody): ActionWords {
  switch (body.action) {
    case "run":
      return {
        title: `Run ${body.strategy} now?`,
        text:
          body.extra === true
            ? "It runs once besides its schedule. Its limits, its budget and all checks hold as ever."
            : "It runs in place of its next slot. Its limits, its budget and all checks hold as ever.",
        button: "Run now",
        isGrave: true,
      };
    case "skip":
      return {
        title: `Skip the next slot of ${body.strategy}?`,
        text: "The slot is recorded as skipped by you. The one after it runs as planned.",
        button: "Skip the slot",
        isGrave: false,
      };
    case "approve":
    case "refuse":
      return answerWords(body.action, body.run);
    default:
      return modeWords(body.action, body.strategy);
  }
}

function answerWords(action: "approve" | "refuse", run: string): ActionWords {
  return action === "approve"
    ? {
        title: `Approve run ${run}?`,
        text: "Its swap is quoted anew and checked again, and signed if everything still holds.",
        button: "Approve",
        isGrave: true,
      }
    : {
        title: `Refuse run ${run}?`,
        text: "Its swap is not signed, and the run ends.",
        button: "Refuse",
        isGrave: false,
      };
}

const MODES = {
  pause: {
    title: (whom: string) => `Pause ${whom}?`,
    text: "No run starts. Swaps that are open are finished.",
    button: "Pause",
    isGrave: false,
  },
  "exits-only": {
    title: (whom: string) => `Let ${whom} only exit?`,
    text: "Stops, take-profits and other exits go on; nothing is bought.",
    button: "Exits only",
    isGrave: false,
  },
  halt: {
    title: (whom: string) => `Halt ${whom}?`,
    text: "Nothing is signed any more, not even what is needed to end an open swap sooner. It goes on watching.",
    button: "Halt",
    isGrave: true,
  },
  resume: {
    title: (whom: string) => `Resume ${whom}?`,
    text: "It trades again from its next slot on.",
    button: "Resume",
    isGrave: true,
  },
} as const;

function modeWords(action: keyof typeof MODES, strategy: string | undefined): ActionWords {
  const { title, text, button, isGrave } = MODES[action];
  const also = action === "resume" && strategy === undefined ? " Wallets that were halted sign again." : "";
  return { title: title(strategy ?? "everything"), text: `${text}${also}`, button, isGrave };
}

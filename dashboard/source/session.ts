import { signal } from "@preact/signals";
import { outcome } from "./actions.ts";
import { API_VERSION, type Session } from "./answers.ts";
import { ask, logIn, logOut, pageKey, Refusal } from "./api.ts";
import { startLive, stopLive } from "./live.ts";
import { textOf } from "./model/problem.ts";

type Standing =
  | { readonly kind: "asking" }
  | { readonly kind: "away"; readonly text: string }
  | { readonly kind: "other-version"; readonly theirs: string }
  | { readonly kind: "stranger"; readonly version: string /** was logged in until now */; readonly isOver: boolean }
  | { readonly kind: "known"; readonly session: Session };

/** Who looks at this page, as far as the daemon knows. */
export const standing = signal<Standing>({ kind: "asking" });

/** Logs out by himself: nobody has to be told of it. */
let isLeaving = false;

const RETRY_MS = 5_000;
let again: ReturnType<typeof setTimeout> | undefined;

/** Several readings may be refused at once: the answer to the second asking finds a stranger already. */
function wasKnown(before: Standing): boolean {
  return before.kind === "known" || (before.kind === "stranger" && before.isOver);
}

function take(session: Session): void {
  const theirs: string = session.apiVersion;
  if (theirs !== API_VERSION) {
    stopLive();
    standing.value = { kind: "other-version", theirs };
  } else if (session.name === null || pageKey() === "") {
    // A browser that forgot the key and kept the cookie could look and not act, and nobody would know until he has to.
    stopLive();
    standing.value = {
      kind: "stranger",
      version: session.version,
      isOver: !isLeaving && wasKnown(standing.value),
    };
    isLeaving = false;
  } else {
    standing.value = { kind: "known", session };
    startLive(watchSession);
  }
}

/** Asks who we are, and goes on asking while the daemon is away. */
export function watchSession(): void {
  clearTimeout(again);
  ask("getSession", "/session").then(take, (error: unknown) => {
    const text = textOf(error);
    // What was shown stays: the live line says that it is old.
    if (standing.value.kind !== "known") standing.value = { kind: "away", text };
    again = setTimeout(watchSession, RETRY_MS);
  });
}

export async function enter(code: string): Promise<void> {
  take(await logIn(code.trim()));
}

/** Without the daemon nobody is logged out: its cookie would let the next one in who opens the page. */
export async function leave(): Promise<void> {
  try {
    await logOut();
  } catch (error) {
    const text = textOf(error);
    outcome.value = { tone: "bad", text: `Not logged out: ${text}` };
    return;
  }
  isLeaving = true;
  watchSession();
}

/** A login that ended while the page was open. */
export function noteRefusal(error: unknown): void {
  if (error instanceof Refusal && error.status === 401 && standing.value.kind === "known") watchSession();
}

export function mayOperate(): boolean {
  return standing.value.kind === "known" && standing.value.session.scope === "operate";
}

/** Exit codes of the process. */
export const EXIT = {
  ok: 0,
  /** the answer is no: a check found problems, an audit found a difference */
  no: 1,
  usage: 2,
  /** a broken invariant or an uncaught error */
  invariant: 70,
  /** it may pass by itself: a second daemon, a used port, a full disk */
  tryAgain: 75,
  /** only what a person must change in a file */
  configuration: 78,
} as const;

/** Ends a command with a message for people and an exit code. */
export class CommandFailure extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.name = "CommandFailure";
    this.exitCode = exitCode;
  }
}

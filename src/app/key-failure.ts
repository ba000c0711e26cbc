import { KeyError } from "../adapters/keys/key-error.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";

/**
 * Does what needs a key, and says where the key stands when it cannot be used: a person has to change a file then.
 * @throws CommandFailure 78, or what a command that was typed with that place ends with
 */
export async function namingKey<T>(
  place: string,
  work: () => T | Promise<T>,
  exitCode: number = EXIT.configuration,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    throw new CommandFailure(exitCode, `${place}: ${error.message}`);
  }
}

import { KeyError } from "../adapters/keys/key-error.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";

/**
 * Does what needs a key, and says where the key stands when it cannot be used: a person has to change a file then.
 * @throws CommandFailure 78
 */
export async function namingKey<T>(place: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    throw new CommandFailure(EXIT.configuration, `${place}: ${error.message}`);
  }
}

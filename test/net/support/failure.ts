import { FetchError } from "../../../src/net/bounded-fetch.ts";

/** The error of a request that must fail. */
export async function failure(work: Promise<unknown>): Promise<FetchError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof FetchError)) throw new Error(`expected a FetchError, not ${String(error)}`);
  return error;
}

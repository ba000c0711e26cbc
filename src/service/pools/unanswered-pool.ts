/** A pool does not answer for what each pool of its kind has: there is nothing that can be traded with it. */
export class UnansweredPoolError extends Error {
  override readonly name = "UnansweredPoolError";
}

/** Whether a pool answers for what is read of it. @throws what else the reading ends with */
export async function isAnswered(reading: Promise<void> | undefined): Promise<boolean> {
  try {
    await reading;
    return true;
  } catch (error) {
    if (error instanceof UnansweredPoolError) return false;
    throw error;
  }
}

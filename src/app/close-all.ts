/**
 * Ends what was started, the last of it first. What cannot be ended keeps nothing else from it.
 * @throws the first failure, once all were tried
 */
export async function closeAll(closers: (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  while (closers.length > 0) {
    try {
      await closers.pop()?.();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

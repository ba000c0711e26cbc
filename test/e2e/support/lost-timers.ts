// Preloaded into a daemon: from SIGUSR2 on no timer that is set runs out, as if the part of Node that keeps them stood
// still. Its sockets go on: it answers, and its scheduler does not tick.
process.once("SIGUSR2", () => {
  const { setTimeout: set } = globalThis;
  const never = 2_000_000_000;
  globalThis.setTimeout = Object.assign((work: () => void) => set(work, never), set);
});

/** Watches what this process itself computes, whatever else the machine does. @returns what it has used since, in ms */
export function watchProcessorTime(): () => number {
  const began = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1_000;
  };
}

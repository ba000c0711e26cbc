/**
 * Named places where a test may kill the process: SWAPD_CRASH_AT=`label#k` kills it with SIGKILL when the label is passed
 * for the k-th time. Unset, as in production, it does nothing.
 * @param prefix what the labels of this part of the process begin with
 */
export function crashPointFrom(env: NodeJS.ProcessEnv, prefix = ""): (label: string) => void {
  const setting = env.SWAPD_CRASH_AT;
  if (setting === undefined || setting === "") return () => undefined;
  const [label, count = "1"] = setting.split("#");
  let left = Number(count);
  return (passed) => {
    if (`${prefix}${passed}` !== label) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
  };
}

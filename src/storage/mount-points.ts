import { readFileSync } from "node:fs";
import { hasCode } from "./private-file.ts";

/** Where Linux lists the mounts that this process sees. */
const MOUNTS = "/proc/self/mountinfo";

/** The field of a line that names the mount point: `36 35 98:0 /from /at rw,noatime - ext4 /dev/root rw`. */
const MOUNT_POINT = 4;

/** Whether something is mounted at a path, links resolved. Where no mounts are listed, as on macOS, nothing is known. */
export function isMountPoint(path: string): boolean {
  return mountPointsOf(listOfMounts()).includes(path);
}

/** The mount points of a list of mounts. Blanks and the like stand in it by their octal code: `\040`. */
export function mountPointsOf(mounts: string): readonly string[] {
  return mounts.split("\n").flatMap((line) => {
    const point = line.split(" ")[MOUNT_POINT];
    return point === undefined ? [] : [point.replaceAll(/\\([0-7]{3})/g, (_, code: string) => characterOf(code))];
  });
}

function characterOf(octal: string): string {
  return String.fromCharCode(Number.parseInt(octal, 8));
}

function listOfMounts(): string {
  try {
    return readFileSync(MOUNTS, "utf8");
  } catch (error) {
    if (hasCode(error, ["ENOENT", "ENOTDIR", "EACCES", "EPERM"])) return "";
    throw error;
  }
}

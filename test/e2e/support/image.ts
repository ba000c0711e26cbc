import { spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** The user of the image. */
export const USER = 1_000;

/** What compose mounts where. */
interface Mounts {
  readonly config: string;
  readonly data: string;
  readonly identity: string;
}

/** A command in a container of the image, as compose would run it. */
export interface Contained {
  readonly pid: number;
  output(): string;
  signal(name: NodeJS.Signals): void;
  readonly ended: Promise<{ readonly code: number | null; readonly out: string }>;
}

// A mount namespace of its own, so that nothing is left behind; then the root is read-only, and what runs is no root.
const ENTER = `
set -e
root="$1"; shift
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t tmpfs -o size=64m,mode=1777 tmpfs "$root/tmp"
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
mount --bind "$DATA" "$root/data"
mount --bind "$IDENTITY" "$root/identity"
mount --bind "$CONFIG" "$root/config"
if [ "$CONFIG_RO" = 1 ]; then mount -o remount,bind,ro "$root/config"; fi
unset DATA IDENTITY CONFIG CONFIG_RO
exec chroot "$root" setpriv --reuid ${USER} --regid ${USER} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all -- "$@"
`;

/** Why the image cannot be entered here; undefined where it can. */
export function missingForImage(root: string | undefined): string | undefined {
  if (root === undefined) return "SWAPD_IMAGE_ROOT: the image's root file system, unpacked";
  if (!existsSync(join(root, "app/bin/swapd.js"))) return `${root}/app/bin/swapd.js`;
  return process.getuid?.() === 0 ? undefined : "root's rights, to make a mount namespace";
}

/** Gives folders for the mounts, which belong to the image's user. */
export function makeMounts(folder: string): Mounts {
  const place = (name: string): string => {
    const path = join(folder, name);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chownSync(path, USER, USER);
    return path;
  };
  return { config: place("config"), data: place("data"), identity: place("identity") };
}

/**
 * Runs a command in the image with the locks of compose.yaml: read-only root, user 1000, no capability and none to gain.
 * The network is the machine's own.
 */
export function enterImage(
  root: string,
  from: { readonly mounts: Mounts; readonly env: Readonly<Record<string, string>>; readonly writesConfig?: boolean },
  command: readonly string[],
): Contained {
  const { mounts, env, writesConfig = false } = from;
  const child = spawn("unshare", ["--mount", "--propagation", "private", "sh", "-c", ENTER, "sh", root, ...command], {
    env: {
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      HOME: "/tmp",
      ...env,
      ...{ DATA: mounts.data, IDENTITY: mounts.identity, CONFIG: mounts.config },
      CONFIG_RO: writesConfig ? "0" : "1",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  const hear = (chunk: Buffer): void => {
    out += chunk.toString();
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  const ended = new Promise<{ code: number | null; out: string }>((resolve) => {
    child.once("close", (code) => resolve({ code, out }));
  });
  return {
    pid: child.pid ?? 0,
    output: () => out,
    signal: (name) => void child.kill(name),
    ended,
  };
}

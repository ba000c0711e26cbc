import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

const NODE_MAJOR = 20;
const NPM_MAJOR = 10;

/** GNU coreutils, and the shell. What a machine lacks of them is left out. */
const SHELL_TOOLS = (
  "sh [ arch base32 base64 basename basenc cat chgrp chmod chown cksum comm cp csplit cut date dd df dir dircolors " +
  "dirname du echo env expand expr factor false fmt fold groups head hostid id install join link ln logname ls md5sum " +
  "mkdir mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste pathchk pinky pr printenv printf ptx pwd readlink " +
  "realpath rm rmdir runcon seq sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat stdbuf " +
  "stty sum sync tac tail tee test timeout touch tr true truncate tsort tty uname unexpand uniq unlink users vdir wc who " +
  "whoami yes"
).split(" ");

/** How this machine reaches the package registry: no part of what the README asks for. */
const NETWORK_VARIABLES = [
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "npm_config_registry",
  ...["http_proxy", "https_proxy", "no_proxy"].flatMap((name) => [name, name.toUpperCase()]),
];

/** A machine as the README wants it: an empty home, and a PATH of git, Node 20, npm 10, coreutils and sh. */
export interface BareMachine {
  readonly home: string;
  /** where the repository is cloned to */
  readonly clone: string;
  readonly env: Readonly<Record<string, string>>;
  /** versions, for the report */
  readonly versions: string;
  remove(): void;
}

/** Builds the machine in a fresh folder. Packages that this one lacks come from the registry. */
export function makeBareMachine(): BareMachine {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "swapd-readme-")));
  const folders = { home: join(root, "home"), bin: join(root, "bin"), temporary: join(root, "tmp") };
  for (const folder of Object.values(folders)) mkdirSync(folder);
  for (const tool of ["git", ...SHELL_TOOLS]) {
    const path = findOnPath(tool, () => true);
    if (path !== undefined) symlinkSync(path, join(folders.bin, tool));
  }
  symlinkSync(findNode(root), join(folders.bin, "node"));
  linkNpm(root, folders.bin);
  const env: Record<string, string> = { HOME: folders.home, PATH: folders.bin, TMPDIR: folders.temporary };
  for (const name of NETWORK_VARIABLES) {
    const value = process.env[name];
    if (value !== undefined && value !== "") env[name] = value;
  }
  const version = (tool: string): string => firstLine(join(folders.bin, tool), ["--version"], env);
  return {
    home: folders.home,
    clone: join(root, "swapd"),
    env,
    versions: `node ${version("node")}, npm ${version("npm")}, ${version("git")}`,
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function findNode(root: string): string {
  const found = findOnPath("node", (path) => firstLine(path, ["--version"]).startsWith(`v${NODE_MAJOR}.`));
  if (found !== undefined) return realpathSync(found);
  const name = `node-linux-${process.arch}`;
  return join(install(root, `${name}@${NODE_MAJOR}`), name, "bin/node");
}

/** npm's two commands as small scripts, so that they run by the `node` that is first on the PATH. */
function linkNpm(root: string, bin: string): void {
  const found = findOnPath("npm", (path) => firstLine(path, ["--version"]).startsWith(`${NPM_MAJOR}.`));
  const beside = found === undefined ? undefined : dirname(realpathSync(found));
  const scripts =
    beside !== undefined && existsSync(join(beside, "npm-cli.js"))
      ? beside
      : join(install(root, `npm@${NPM_MAJOR}`), "npm/bin");
  for (const command of ["npm", "npx"]) {
    const file = join(bin, command);
    writeFileSync(file, `#!/bin/sh\nexec node "${join(scripts, `${command}-cli.js`)}" "$@"\n`);
    chmodSync(file, 0o755);
  }
}

/** @returns the node_modules folder that a package was installed to */
function install(root: string, wanted: string): string {
  const prefix = join(root, "tools");
  const args = ["install", "--prefix", prefix, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", wanted];
  execFileSync("npm", args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  return join(prefix, "node_modules");
}

function findOnPath(tool: string, isWanted: (path: string) => boolean): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, tool)).find((path) => existsSync(path) && isWanted(path));
}

function firstLine(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> | undefined = undefined,
): string {
  const text = execFileSync(file, args, { encoding: "utf8", ...(env === undefined ? {} : { env }) });
  return text.split("\n")[0] ?? "";
}

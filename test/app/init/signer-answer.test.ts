import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { init } from "../../../src/app/commands/init.ts";
import { layoutOf } from "../../../src/app/init/files.ts";
import type { Session } from "../../../src/app/init/session.ts";
import { judgeSigner } from "../../../src/app/init/signer-answer.ts";
import { createRuntime } from "../../../src/app/runtime.ts";
import { startSignerDouble } from "../../support/signer-double/signer-double.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const KEYS = [`0x${"11".repeat(32)}`, `0x${"22".repeat(32)}`];
const FIRST = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A";
const SECOND = "0x1563915e194D8CfBA1943570603F7606A3115508";
const NOBODY = "http://127.0.0.1:1";

let folder: string;
beforeEach(() => {
  folder = temporaryDirectory();
  for (const name of ["SWAPD_CONFIG", "SWAPD_DATA", "SWAPD_IDENTITY"]) vi.stubEnv(name, "");
});
afterEach(() => vi.unstubAllEnvs());

function session(isOffline = false): Session {
  return {
    folder,
    layout: layoutOf({}),
    runtime: createRuntime({ level: "error", env: {} }),
    isOffline,
    present: undefined,
    answers: new Map([["network", "base"]]),
    secrets: new Map(),
    unsaid: new Set(),
    slotUsd: undefined,
  };
}

const judge = (url: string, address?: string, isOffline?: boolean) =>
  judgeSigner(session(isOffline), { kind: "signer", url, address });

async function signer(keys: readonly string[]) {
  const double = await startSignerDouble({ chainId: 8453, keys });
  onTestFinished(() => double.stop());
  return double;
}

test("a signer with one key needs no address, and is asked for its accounts alone", async () => {
  const { url, asked } = await signer(KEYS.slice(0, 1));
  expect(await judge(url)).toEqual({ value: `signer ${url} ${FIRST}`, says: [expect.stringContaining(FIRST)] });
  expect(asked.map(({ method }) => method)).toEqual(["eth_accounts"]);
});

test("of several keys one is named, of none and of a foreign one it is said what it has", async () => {
  const { url } = await signer(KEYS);
  expect(await judge(url)).toEqual({ problem: expect.stringMatching(`${SECOND}, ${FIRST}: name one after the URL`) });
  expect(await judge(url, SECOND.toLowerCase())).toMatchObject({ value: `signer ${url} ${SECOND}` });
  const foreign = `0x${"ab".repeat(20)}`;
  expect(await judge(url, foreign)).toEqual({ problem: expect.stringContaining(`and not ${foreign}`) });
  const empty = await signer([]);
  expect(await judge(empty.url)).toEqual({ problem: expect.stringContaining("has no key: give it one") });
});

test("one that does not answer is taken with its address, with a warning, and refused without", async () => {
  expect(await judge(NOBODY)).toEqual({ problem: expect.stringContaining("start it, or name the address") });
  expect(await judge(NOBODY, FIRST)).toEqual({
    value: `signer ${NOBODY} ${FIRST}`,
    says: [expect.stringMatching(/^warning: .*127\.0\.0\.1:1.*by hand/)],
  });
  expect(await judge(NOBODY, undefined, true)).toEqual({ problem: expect.stringContaining("offline") });
  expect(await judge(NOBODY, FIRST, true)).toMatchObject({ says: ["offline: the signer was not asked"] });
});

test.each([
  ["127.0.0.1:9000", undefined, "is no http or https URL"],
  ["127.0.0.1:9000", FIRST, "is no http or https URL"],
  ["http://user:secret@127.0.0.1:9000", FIRST, "a host and a path only"],
  [NOBODY, "0x1234", "0x1234"],
])("%s with %s is refused, and nobody is asked", async (url, address, said) => {
  expect(await judge(url, address)).toEqual({ problem: expect.stringContaining(said) });
});

test("init writes the signer into the wallet, reads it again, and another answer replaces it", async () => {
  const shown: string[] = [];
  const write = (text: string): void => void shown.push(text);
  const run = (wallet?: string) =>
    init(
      { dir: folder, offline: true, yes: true, network: "base", rpc: "env:RPC_1", ...(wallet && { wallet }) },
      { out: write, err: write, isInteractive: false },
    );
  const line = (): string | undefined =>
    /^ {2}main: (.*)$/m.exec(readFileSync(join(folder, "swapd.yaml"), "utf8"))?.[1];
  await run(`signer ${NOBODY} ${FIRST}`);
  expect(line()).toBe(`{ signer: { url: "${NOBODY}", address: "${FIRST}" } }`);
  expect(shown.join("\n")).not.toContain("a wallet with a key, once");
  shown.length = 0;
  await run();
  expect(shown.at(-1)).toContain("nothing was changed");
  await run(`signer ${NOBODY} ${SECOND}`);
  expect(line()).toContain(SECOND);
});

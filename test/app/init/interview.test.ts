import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { check } from "../../../src/app/commands/check.ts";
import { init } from "../../../src/app/commands/init.ts";
import { CommandFailure } from "../../../src/app/exit-codes.ts";
import type { LineSource } from "../../../src/app/init/lines.ts";
import { isThereCommand } from "../../docs/support/commands.ts";
import { startBareAnvil } from "../../support/bare-anvil.ts";
import { startRpcProxy } from "../../support/rpc-proxy.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { writeWallet } from "../../support/wallet-files.ts";

const WATCHED = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
/** An address whose contract could call itself USDC; that of Base is another one. */
const FOREIGN = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

const OWN_TOKEN = (digit: number) => ({
  address: `0x${String(digit).repeat(40)}`,
  decimals: digit === 1 ? 6 : 18,
  feed: { address: `0x${String(digit + 2).repeat(40)}`, heartbeat: "1h" },
});
const OWN_CHAIN = {
  chainId: 4242,
  nativeSymbol: "ETH",
  wrappedNative: `0x${"2".repeat(40)}`,
  nativeFeed: { address: `0x${"4".repeat(40)}`, heartbeat: "1h" },
  settlement: `0x${"a1".repeat(20)}`,
  protocols: [{ kind: 2, factory: `0x${"d1".repeat(20)}`, feePips: 0 }],
  feeTiers: [500],
};

let folder: string;
beforeEach(() => {
  folder = temporaryDirectory();
  vi.stubEnv("SWAPD_CONFIG", "");
  vi.stubEnv("SWAPD_DATA", "");
  vi.stubEnv("SWAPD_IDENTITY", "");
});
afterEach(() => vi.unstubAllEnvs());

/** A person who types these lines, and what is shown. */
function person(...typed: readonly string[]) {
  const shown: string[] = [];
  const asked: string[] = [];
  const left = [...typed];
  const lines: LineSource = {
    next: (prompt) => {
      asked.push(prompt);
      return Promise.resolve(left.shift());
    },
    close: () => undefined,
  };
  const write = (text: string): void => void shown.push(text);
  const terminal = { out: write, err: write, isInteractive: false };
  const text = (): string => shown.join("\n");
  return { lines, terminal, text, asked, left };
}

async function started(typed: readonly string[], options: Partial<Parameters<typeof init>[0]> = {}) {
  const one = person(...typed);
  await init({ dir: folder, offline: true, ...options }, one.terminal, one.lines);
  return one;
}

async function failed(typed: readonly string[], options: Partial<Parameters<typeof init>[0]> = {}) {
  const one = person(...typed);
  const ended = init({ dir: folder, offline: true, ...options }, one.terminal, one.lines);
  const error: unknown = await ended.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CommandFailure)) throw error ?? new Error("it did not fail");
  return { ...one, code: error.exitCode, message: error.message };
}

const read = (path: string): string => readFileSync(join(folder, path), "utf8");
const names = (): string[] => readdirSync(folder).sort();

async function checked(): Promise<{ ok: boolean; problems: unknown[] }> {
  const one = person();
  await check(join(folder, "swapd.yaml"), { json: true, offline: true }, one.terminal).catch(() => undefined);
  return JSON.parse(one.text());
}

/** network, rpc, sell, buy, at, timezone, total, day, month, wallet */
const GOOD = [
  "base",
  "env:RPC_1",
  "100 USDC",
  "WETH",
  "Mon 09:00",
  "Europe/Berlin",
  "none",
  "200 USD",
  "900 USD",
  WATCHED,
];

describe("swapd init, asked", () => {
  test("writes what swapd check takes, with all guards on, schemas for editors, and nothing for git to publish", async () => {
    const { text } = await started(GOOD);
    expect(await checked()).toMatchObject({ ok: true, problems: [] });
    expect(text()).toContain("next slots: ");
    const policy = read("policy.yaml");
    for (const key of ["max_trade", "max_per_day", "max_per_month", "recipients", "tokens", "max_slippage"]) {
      expect(policy).toMatch(new RegExp(`^${key}: `, "m"));
    }
    for (const key of ["reference", "max_depeg", "round_trip", "drawdown", "pause_after", "max_gas_price"]) {
      expect(policy).toMatch(new RegExp(`^${key}: `, "m"));
    }
    expect(read("swapd.yaml")).toContain("peg: USD");
    for (const [path, schema] of [
      ["swapd.yaml", "swapd.schema.json"],
      ["policy.yaml", "policy.schema.json"],
      ["strategies/buy-weth.yaml", "../strategy.schema.json"],
    ] as const) {
      expect(read(path).split("\n")[0]).toBe(`# yaml-language-server: $schema=${schema}`);
      expect(existsSync(join(folder, path, "..", schema))).toBe(true);
    }
    expect(names()).not.toContain("wallet.json");
    const ignored = read(".gitignore").split("\n");
    for (const line of ["wallet*.json", "*.pass", "rpc*.url", ".env", "secrets/", "identity/", "*.db"]) {
      expect(ignored).toContain(line);
    }
  });

  test("explains a wrong answer and asks again, as often as it takes, and loses nothing that was answered", async () => {
    const typed = [
      ...["bass", "?", "base", "RPC_1", "env:RPC_1"],
      ...["100", "100,50 USDC", "100 usdc", "100 USDbC", `100 ${FOREIGN}`, "100 USDC"],
      ...["USDC", "WETH", "monday 9", "25:00", "Mon 09:00", "EST", "Europe/Berlin"],
      ...["5200 WETH", "5200 USDC", "500", "500 USD", "100 USD", "900 USD", "my wallet", "0x1234", WATCHED],
    ];
    const { text, asked, left } = await started(typed);
    expect(left).toEqual([]);
    for (const words of [
      "did you mean base?",
      "One configuration is of one network",
      '"RPC_1" is no endpoint',
      "did you mean USDC?",
      "a bridge's own token and not USDC",
      "is no token of the network's book",
      'write "01:00"',
      'did you mean "America/New_York"?',
      'write for example "500 USD"',
      "less than max_per_day of 500 USD",
      '"0x1234" is no address',
      "is none of: paper AMOUNT TOKEN, an address, new",
    ]) {
      expect(text()).toContain(words);
    }
    expect(asked.filter((prompt) => prompt.startsWith("network"))).toHaveLength(3);
    expect(read("strategies/buy-weth.yaml")).toContain('budget: { total: "5200 USDC" }');
    expect(await checked()).toMatchObject({ ok: true });
  });

  test("back goes to the question before, also past one that did not arise", async () => {
    await started([...GOOD.slice(0, 4), "every 6h", "back", "back", "DAI", "Mon 10:00", ...GOOD.slice(5)]);
    expect(read("strategies/buy-dai.yaml")).toContain('schedule: { at: "Mon 10:00", timezone: Europe/Berlin }');
  });

  test("takes an address of the book for its token, and this machine's zone for an empty answer", async () => {
    const typed = [...GOOD];
    typed[2] = "100 0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
    typed[5] = "";
    await started(typed);
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    expect(read("strategies/buy-weth.yaml")).toContain(`sell: "100 USDC"`);
    expect(read("strategies/buy-weth.yaml")).toContain(`timezone: ${zone} }`);
  });

  test("keeps a URL that is typed in a file of its own, and shows it nowhere", async () => {
    const url = "https://node.example/v2/c4n4ry";
    const typed = [...GOOD];
    typed[1] = url;
    const { text } = await started(typed);
    expect(read("rpc.url")).toBe(`${url}\n`);
    expect(read("swapd.yaml")).toContain('rpc: [{ file: "rpc.url" }]');
    expect(text()).not.toContain("c4n4ry");
    expect(read("swapd.yaml")).not.toContain("c4n4ry");
    expect(await checked()).toMatchObject({ ok: true });
  });

  test("takes a file from others that has a URL by then that is typed, whatever rights it had before", async () => {
    const file = join(folder, "rpc.url");
    writeFileSync(file, "http://127.0.0.1:8545\n");
    chmodSync(file, 0o644);
    await started([], { yes: true, rpc: "https://node.example/v2/c4n4ry" });
    expect(read("rpc.url")).toContain("c4n4ry");
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("asks the node of a URL that is typed, which is in no file yet, or in the place of another one", async () => {
    const proxy = await startRpcProxy((await startBareAnvil({ chainId: 8453 })).url);
    const typed = `${proxy.url}/v2/c4n4ry`;
    for (const before of [undefined, "http://127.0.0.1:1/v2/old\n"]) {
      if (before !== undefined) writeFileSync(join(folder, "rpc.url"), before);
      const { text, message } = await failed(["base", typed], { offline: false });
      expect(text()).toContain("chain 8453 (base), block 0");
      expect(message).toContain('ended at "sell how much');
      expect(text()).not.toContain("c4n4ry");
    }
  });

  test("answers that end too early write nothing, and say where they ended", async () => {
    const { code, message } = await failed(GOOD.slice(0, 6));
    expect(code).toBe(2);
    expect(message).toContain("sell how much in all");
    expect(message).toContain("nothing was written");
    expect(names()).toEqual([]);
  });
});

test("in the image the databases go to the volume that it names, and the port is for whoever publishes it", async () => {
  vi.stubEnv("SWAPD_CONFIG", join(folder, "swapd.yaml"));
  vi.stubEnv("SWAPD_DATA", "/data");
  const one = person(...GOOD);
  await init({ offline: true }, one.terminal, one.lines);
  const main = read("swapd.yaml");
  for (const line of ["database: /data/swapd.db", "database: /data/service.db", "listen: 0.0.0.0:9464"]) {
    expect(main).toContain(line);
  }
  expect(one.text()).toMatch(/swapd check +everything at once/);
});

test.each([
  ["of another folder", () => "/etc/swapd/swapd.yaml"],
  ["of another name", () => join(folder, "other.yaml")],
])("the commands that come next name this configuration where SWAPD_CONFIG is one %s", async (_what, named) => {
  vi.stubEnv("SWAPD_CONFIG", named());
  const before = process.cwd();
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
  const one = person(...GOOD);
  await init({ dir: ".", offline: true }, one.terminal, one.lines);
  for (const command of ["check", "plan", "start", "live"])
    expect(one.text()).toContain(`swapd ${command} --config ${join(folder, "swapd.yaml")} `);
});

describe("a folder of a configuration whose main file has another name", () => {
  const put = (path: string): void => {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), "");
  };

  test.each([
    ["the folder of SWAPD_CONFIG", undefined],
    ["that folder by --dir", "."],
  ])("gets no second one beside it where SWAPD_CONFIG names that file: %s", async (_what, dir) => {
    put("base.yaml");
    vi.stubEnv("SWAPD_CONFIG", join(folder, "base.yaml"));
    const refused = await failed([], { yes: true, dir: dir === undefined ? undefined : folder });
    expect(refused).toMatchObject({ code: 1, message: expect.stringContaining("edit base.yaml by hand") });
    expect(refused.message).toContain("nothing was written");
    expect(names()).toEqual(["base.yaml"]);
  });

  test("is not what is changed where SWAPD_CONFIG names that file and swapd.yaml is beside it, unless --dir says so", async () => {
    await started(GOOD);
    put("base.yaml");
    vi.stubEnv("SWAPD_CONFIG", join(folder, "base.yaml"));
    const change = { yes: true, maxPerDay: "300 USD" };
    expect((await failed([], { ...change, dir: undefined })).message).toContain("edit base.yaml by hand");
    expect(read("policy.yaml")).toContain('"200 USD"');
    await started([], change);
    expect(read("policy.yaml")).toContain('"300 USD"');
  });

  test.each(["strategies/sell-usdc.yaml", "strategies/sell-usdc.yml"])(
    "gets no second one, whose %s its daemon would trade, before anything is asked",
    async (path) => {
      put(path);
      const { code, message, asked } = await failed(GOOD);
      expect(code).toBe(1);
      expect(message).toContain("sell-usdc.y");
      expect(message).toContain("name another folder with --dir");
      expect(asked).toEqual([]);
      expect(names()).toEqual(["strategies"]);
    },
  );
});

describe("swapd init --yes", () => {
  test("says everything that is wrong at once, by flag, and writes nothing", async () => {
    const wrong = { sell: "5 XYZ", at: "25:00", timezone: "EST", maxPerDay: "500", rpc: "RPC", total: "1 ETH" };
    const { code, message } = await failed([], { yes: true, network: "base", ...wrong });
    expect(code).toBe(2);
    const flags = message.split("\n").flatMap((line) => /^(--[a-z-]+): /.exec(line)?.[1] ?? []);
    expect(flags).toEqual(["--rpc", "--sell", "--at", "--timezone", "--total", "--max-per-day"]);
    expect(names()).toEqual([]);
  });

  test("without a price allows twenty days of the day's ceiling in a month, however that is written", async () => {
    for (const [day, month] of [
      ["1_000 USD", "20000 USD"],
      ["120.5 USD", "2410 USD"],
    ] as const) {
      folder = temporaryDirectory();
      await started([], { yes: true, maxPerDay: day });
      expect(read("policy.yaml")).toContain(`max_per_month: "${month}"`);
    }
  });

  test("makes no wallet that nobody asked for, and a first wallet with its password for its owner alone", async () => {
    await started([], { yes: true, timezone: "Europe/Berlin" });
    expect(names()).not.toContain("wallet.json");
    expect(read("swapd.yaml")).toContain("main: { paper: { USDC: 5000 } }");
    const { text } = await started([], { yes: true, wallet: "new" });
    expect(text()).toMatch(/wallet {4}0x[0-9a-fA-F]{40}: fund it with little: USDC to sell, and ETH for gas/);
    expect(text()).toContain("only copy of the key");
    expect(await checked()).toMatchObject({ ok: true });
  });
});

describe("swapd init in a folder that has a configuration", () => {
  beforeEach(async () => {
    await started(GOOD);
  });

  test("takes what is there for every empty answer, and then changes nothing", async () => {
    const before = new Map(
      names().map((name) => [name, name === "strategies" || name === "identity" ? "" : read(name)]),
    );
    const { text, asked } = await started(GOOD.map(() => ""));
    expect(text()).toContain("has all of that already: nothing was changed");
    expect(asked.join("\n")).toContain("[200 USD]");
    for (const [name, was] of before) if (was !== "") expect(read(name)).toBe(was);
  });

  test("imports no key over a keystore that is there, and says how it is imported beside it", async () => {
    writeFileSync(join(folder, "key.txt"), `0x${"11".repeat(32)}\n`);
    writeWallet(folder);
    const before = read("wallet.json");
    const { message } = await failed([], { yes: true, wallet: "import key.txt" });
    const imports = /swapd wallet import --keystore OTHER\.json --password-file OTHER\.pass --key-file \S+key\.txt/;
    expect(message).toMatch(/--wallet: \S+wallet\.json is there already and may be the only copy of a key/);
    expect(message).toMatch(new RegExp(`${imports.source}, and answer keystore OTHER\\.json`));
    expect(await isThereCommand(imports.exec(message)?.[0] ?? "")).toBe(true);
    expect(read("wallet.json")).toBe(before);
  });

  test("changes values alone, says each change, and keeps comments and what else was written by hand", async () => {
    writeFileSync(join(folder, "policy.yaml"), `${read("policy.yaml")}# mine\nmin_trade: "10 USD"\n`);
    const typed = ["", "env:RPC_1,env:RPC_2", "50 DAI", "", "", "", "", "300 USD", "", "", "yes"];
    const { text } = await started(typed);
    for (const line of [
      "swapd.yaml: network.rpc: [{ env: RPC_1 }] -> [{ env: RPC_1 }, { env: RPC_2 }]",
      "swapd.yaml: tokens.DAI: (not there) -> { address: preset, decimals: 18, feed: preset, peg: USD }",
      'policy.yaml: max_per_day: "200 USD" -> "300 USD"',
      "policy.yaml: tokens: [USDC, WETH] -> [USDC, WETH, DAI]",
      'strategies/buy-weth.yaml: sell: "100 USDC" -> "50 DAI"',
    ]) {
      expect(text()).toContain(line);
    }
    expect(read("strategies/buy-weth.yaml")).not.toContain("100 USDC");
    expect(read("policy.yaml")).toContain('# mine\nmin_trade: "10 USD"');
    expect(read("policy.yaml")).toContain("# the most that is sold in any 24 hours");
    expect(await checked()).toMatchObject({ ok: true });
  });

  test.each([
    ["a strategy alone a daemon that runs takes over by itself", { sell: "10 USDC" }, true],
    ["a strategy and the policy", { sell: "10 USDC", maxPerDay: "300 USD" }, false],
    ["a strategy and a token of the main file", { sell: "10 DAI" }, false],
  ])("says when a change applies: %s", async (_what, change, isTakenOver) => {
    const { text } = await started([], { yes: true, ...change });
    expect(text().includes("takes another strategy over by itself")).toBe(isTakenOver);
    expect(text().includes("nothing of this applies to it sooner, a strategy neither")).toBe(!isTakenOver);
  });

  test("makes no wallet where the files would be refused", async () => {
    // Nothing of it is asked about, and it is in order until the day's ceiling becomes another one.
    const policy = read("policy.yaml").replace(/^max_trade: .*$/m, 'max_trade: "190 USD"');
    writeFileSync(join(folder, "policy.yaml"), policy);
    const { message } = await failed([], { yes: true, wallet: "new", maxPerDay: "180 USD" });
    expect(message).toMatch(/max_trade.*nothing was changed/s);
    expect(names().filter((name) => name.startsWith("wallet"))).toEqual([]);
    expect(read("policy.yaml")).toBe(policy);
    await started([], { yes: true, wallet: "new" });
    expect(await checked()).toMatchObject({ ok: true });
  });

  test("adds no month's ceiling that was left out, unless it is given", async () => {
    const without = read("policy.yaml").replace(/^max_per_month: .*\n/m, "");
    writeFileSync(join(folder, "policy.yaml"), without);
    const { text } = await started([], { yes: true, sell: "10 USDC" });
    expect(text()).not.toContain("max_per_month");
    expect(read("policy.yaml")).toBe(without);
    await started([], { yes: true, maxPerMonth: "950 USD" });
    expect(read("policy.yaml")).toContain('max_per_month: "950 USD"');
  });

  test("a URL that is typed takes the place of the one before, though the files name the same place; without a yes it stays", async () => {
    const url = (name: string) => ["", `https://node.example/v2/${name}`, "", "", "", "", "", "", "", ""];
    await started([...url("first"), "yes"]);
    expect(read("rpc.url")).toBe("https://node.example/v2/first\n");
    await failed([...url("second"), "no"]);
    expect(read("rpc.url")).toBe("https://node.example/v2/first\n");
    const { text } = await started([...url("second"), "yes"]);
    expect(text()).toContain("rpc.url: what is typed takes the place of what stands there");
    expect(text()).not.toContain("v2/");
    expect(read("rpc.url")).toBe("https://node.example/v2/second\n");
    const again = await started(url("second"));
    expect(again.text()).toContain("has all of that already: nothing was changed");
  });

  test("changes nothing where a person says no, where the network is another one, and where the files are broken", async () => {
    const before = read("policy.yaml");
    expect(await failed(["", "", "", "", "", "", "", "300 USD", "", "", "no"])).toMatchObject({ code: 1 });
    expect(await failed([], { yes: true, network: "arbitrum" })).toMatchObject({
      code: 2,
      message: expect.stringContaining("this folder is for base"),
    });
    expect(read("policy.yaml")).toBe(before);
    writeFileSync(join(folder, "policy.yaml"), `${before}max_trad: 1\n`);
    expect(await failed([], { yes: true })).toMatchObject({
      code: 1,
      message: expect.stringContaining("not in order"),
    });
  });

  test("takes a keystore instead of a watched account, and leaves strategies alone that do more than it asks", async () => {
    writeWallet(folder);
    writeFileSync(join(folder, "strategies/second.yaml"), read("strategies/buy-weth.yaml"));
    const { text } = await started([], { yes: true, wallet: "keystore wallet.json" });
    expect(text()).toContain("swapd.yaml: wallets.main: ");
    expect(await checked()).toMatchObject({ ok: true });
    const refused = await failed([], { yes: true, sell: "1 USDC" });
    expect(refused.message).toContain("--sell: this folder has no strategy, several");
  });
});

describe("a wallet on paper", () => {
  const paper = async (answer: string, sell = "100 USDC", total = "none") =>
    await started([...GOOD.slice(0, 2), sell, "WETH", ...GOOD.slice(4, 6), total, ...GOOD.slice(7, 9), answer]);
  const line = (): string | undefined => /^ {2}main: (.*)$/m.exec(read("swapd.yaml"))?.[1];

  test("is what an empty answer means, with enough for the budget, or for fifty slots", async () => {
    const { text } = await paper("");
    expect(line()).toBe("{ paper: { USDC: 5000 } }");
    expect(read("swapd.yaml")).toMatch(/^mode: paper /m);
    expect(text()).toContain("nothing is signed on paper");
    expect(text()).toMatch(/swapd init --dir \S+ --yes --wallet new +a wallet with a key/);
    expect(await checked()).toMatchObject({ ok: true, problems: [] });
    folder = temporaryDirectory();
    await paper("", "0.5 DAI", "5.5 DAI");
    expect(line()).toBe('{ paper: { DAI: "5.5" } }');
  });

  test.each([
    ["paper", "is none of: paper AMOUNT TOKEN"],
    ["paper 5000", "is none of: paper AMOUNT TOKEN"],
    ["paper 5000 USDX", 'no token "USDX"'],
    ["paper 5 USDC, 6 USDC", "name each token once"],
    ["paper 0.0000001 USDC", "more decimals than the token has"],
  ])("an answer such as %s is explained, and asked again", async (answer, words) => {
    const one = person(...GOOD.slice(0, 9), answer, "paper 7.5 USDC, 2 ETH, 3 DAI");
    await init({ dir: folder, offline: true }, one.terminal, one.lines);
    expect(one.text()).toContain(words);
    expect(line()).toBe('{ paper: { USDC: "7.5", ETH: 2, DAI: 3 } }');
    expect(await checked()).toMatchObject({ ok: true, problems: [] });
  });

  test("says that it begins with none of what is sold, and refuses to be without the coin that is", async () => {
    expect((await paper("paper 5 WETH")).text()).toContain("warning: USDC is sold, and it begins with none");
    folder = temporaryDirectory();
    const typed = [
      "base",
      "env:RPC_1",
      "1 ETH",
      "USDC",
      ...GOOD.slice(4, 7),
      "9000 USD",
      "90000 USD",
      "paper 5 USDC",
      "",
    ];
    const one = person(...typed);
    await init({ dir: folder, offline: true }, one.terminal, one.lines);
    expect(one.text()).toContain("sells ETH, and this wallet lists none");
    expect(line()).toBe("{ paper: { ETH: 50 } }");
  });

  test("becomes one with a key, marked as new before it trades, and stays on paper until it is live", async () => {
    await paper("");
    const { text } = await started([], { yes: true, wallet: "new" });
    expect(text()).toContain("swapd.yaml: wallets.main: { paper: { USDC: 5000 } } -> { keystore");
    expect(readdirSync(join(folder, "identity"))).toHaveLength(1);
    expect(read("swapd.yaml")).toMatch(/^mode: paper /m);
    writeFileSync(join(folder, "swapd.yaml"), read("swapd.yaml").replace("mode: paper ", "mode: live "));
    expect((await failed([], { yes: true, wallet: "paper 5 USDC" })).message).toContain(
      "nothing can be signed on paper",
    );
  });
});

describe("swapd init over a configuration that somebody wrote", () => {
  beforeEach(async () => {
    await started(GOOD);
  });

  const edit = (path: string, from: string | RegExp, to: string): void => {
    const before = read(path);
    const after = before.replace(from, to);
    expect(after).not.toBe(before);
    writeFileSync(join(folder, path), after);
  };
  const texts = (): Record<string, string> =>
    Object.fromEntries(["swapd.yaml", "policy.yaml", "strategies/buy-weth.yaml"].map((path) => [path, read(path)]));

  test("on a chain of his own says in a sentence that it asks about built-in ones, and changes nothing", async () => {
    const preset = { ...OWN_CHAIN, tokens: { USDC: OWN_TOKEN(1), WETH: OWN_TOKEN(2) } };
    writeFileSync(join(folder, "mychain.yaml"), JSON.stringify(preset));
    edit("swapd.yaml", "  name: base", "  name: mychain\n  preset: mychain.yaml");
    expect(await checked()).toMatchObject({ ok: true });
    const before = texts();
    expect(await failed([], { yes: true, maxPerDay: "300 USD" })).toMatchObject({
      code: 1,
      message: expect.stringMatching(/the network mychain is one of your own.*edit it.*nothing was changed/s),
    });
    expect(texts()).toEqual(before);
  });

  test.each([
    ["a keystore from the environment", /main: .*/, "main: { keystore: { env: KEYSTORE }, password: { env: PASS } }"],
    ["an address on paper", /main: .*/, `main: { paper: { USDC: 5, DAI: 6 }, address: "${WATCHED}" }`],
  ])("keeps %s, and asks about the rest", async (_, from, to) => {
    vi.stubEnv("KEYSTORE", JSON.stringify({ address: WATCHED.slice(2) }));
    edit("swapd.yaml", from, to.replace(", DAI: 6", ""));
    const before = read("swapd.yaml");
    const { asked } = await started(["", "", "", "", "", "", "", "300 USD", "", "yes"]);
    expect(asked.some((prompt) => prompt.startsWith("wallet"))).toBe(false);
    expect(read("swapd.yaml")).toBe(before);
    expect(read("policy.yaml")).toContain('max_per_day: "300 USD"');
    expect((await failed([], { yes: true, wallet: "new" })).message).toContain("--wallet: the wallet here is one that");
    expect(names()).not.toContain("wallet.json");
  });

  test("with several wallets changes the first one alone", async () => {
    edit("swapd.yaml", "tokens: ", 'other: { address: "0x00000000000000000000000000000000000000aa" }\ntokens: ');
    edit("swapd.yaml", "other:", "  other:");
    await started([], { yes: true, wallet: "paper 9 USDC" });
    expect(read("swapd.yaml")).toMatch(/^ {2}main: \{ paper: \{ USDC: 9 \} \}$/m);
    expect(read("swapd.yaml")).toContain("0x00000000000000000000000000000000000000aa");
    expect(await checked()).toMatchObject({ ok: true });
  });

  test("with a policy elsewhere changes nothing of that by itself, and says what to write", async () => {
    const elsewhere = join(temporaryDirectory(), "policy.yaml");
    writeFileSync(elsewhere, read("policy.yaml"));
    edit("swapd.yaml", "policy: policy.yaml", `policy: ${elsewhere}`);
    const before = readFileSync(elsewhere, "utf8");
    const { message } = await failed([], { yes: true, maxPerDay: "300 USD" });
    expect(message).toMatch(/has to be done by hand:\n.*policy.yaml: max_per_day: "200 USD" -> "300 USD"/s);
    expect(readFileSync(elsewhere, "utf8")).toBe(before);
  });

  test("adds nothing to the tokens of the file and of the policy that nobody named, where there are several strategies", async () => {
    folder = temporaryDirectory();
    await started([], { yes: true, sell: "1 WETH", buy: "cbBTC", maxPerDay: "900 USD" });
    writeFileSync(join(folder, "strategies/second.yaml"), read("strategies/buy-cbbtc.yaml"));
    const { text } = await started([], { yes: true, maxPerDay: "950 USD", wallet: "paper 2 WETH, 3 DAI, 1 ETH" });
    expect(text()).toContain('policy.yaml: max_per_day: "900 USD" -> "950 USD"');
    expect(text()).toContain("tokens.DAI: (not there)");
    expect(text()).not.toMatch(/tokens\.(?!DAI)|policy\.yaml: tokens|is sold, and it begins with none/);
    expect(read("policy.yaml")).toMatch(/^tokens: \[WETH, cbBTC\] /m);
    expect(read("swapd.yaml")).not.toContain("USDC");
  });

  test("leaves a strategy alone that trades a token which was added by hand, and changes the rest", async () => {
    const feed = '{ address: "0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70", heartbeat: 24h }';
    edit("swapd.yaml", "policy: ", `  DEGEN: { address: "${FOREIGN}", decimals: 18, feed: ${feed} }\npolicy: `);
    edit("policy.yaml", "USDC, WETH", "USDC, DEGEN");
    edit("strategies/buy-weth.yaml", "buy: WETH", "buy: DEGEN");
    expect(await checked()).toMatchObject({ ok: true });
    const before = read("strategies/buy-weth.yaml");
    await started([], { yes: true, maxPerDay: "300 USD" });
    expect(read("policy.yaml")).toContain('max_per_day: "300 USD"');
    expect(read("policy.yaml")).toContain("tokens: [USDC, DEGEN]");
    await started([], { yes: true, wallet: "new" });
    expect(read("swapd.yaml")).toContain("keystore");
    expect(read("strategies/buy-weth.yaml")).toBe(before);
    expect(await checked()).toMatchObject({ ok: true });
  });

  test("adds a token to the policy that has one of a longer name", async () => {
    const feed = '{ address: "0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70", heartbeat: 24h }';
    await started([], { yes: true, sell: "50 DAI" });
    edit("swapd.yaml", "policy: ", `  USDC.e: { address: "${FOREIGN}", decimals: 6, feed: ${feed} }\npolicy: `);
    edit("policy.yaml", "USDC, WETH, DAI", '"USDC.e", WETH, DAI');
    await started([], { yes: true, sell: "50 USDC" });
    expect(read("policy.yaml")).toContain('tokens: ["USDC.e", WETH, DAI, USDC]');
    expect(await checked()).toMatchObject({ ok: true });
  });

  test("keeps the clock of a schedule that names none, which is UTC, wherever this machine stands", async () => {
    vi.stubEnv("TZ", "America/New_York");
    edit("strategies/buy-weth.yaml", ", timezone: Europe/Berlin", "");
    const before = read("strategies/buy-weth.yaml");
    await started([], { yes: true, maxPerDay: "300 USD" });
    expect(read("strategies/buy-weth.yaml")).toBe(before);
    await started([], { yes: true, at: "Tue 09:00" });
    expect(read("strategies/buy-weth.yaml")).toContain('schedule: { at: "Tue 09:00", timezone: UTC }');
  });

  test.each([
    ["a budget that has more than a total", /^limits/m, 'budget: { total: "500 USDC", max_runs: 3 }\nlimits'],
    ["a schedule that has more than a time", "timezone: Europe/Berlin", "timezone: Europe/Berlin, jitter: 10m"],
  ])("leaves a strategy alone with %s: none of it may get lost", async (_, from, to) => {
    edit("strategies/buy-weth.yaml", from, to);
    expect(await checked()).toMatchObject({ ok: true });
    const before = read("strategies/buy-weth.yaml");
    await started([], { yes: true, maxPerDay: "300 USD" });
    expect((await failed([], { yes: true, total: "none" })).message).toContain("--total: this folder has no strategy");
    expect(read("strategies/buy-weth.yaml")).toBe(before);
  });
});

test("a folder in which an init was interrupted is no configuration until the next one finished it", async () => {
  await started(GOOD);
  const stage = join(folder, ".swapd-init");
  mkdirSync(stage);
  writeFileSync(join(stage, "ready.json"), "[]");
  expect(JSON.stringify(await checked())).toContain("run `swapd init` here again");
  const { text } = await started(GOOD.map(() => ""));
  expect(text()).toContain("an init that was interrupted");
  expect(await checked()).toMatchObject({ ok: true });
});

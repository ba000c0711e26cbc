import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getAddress } from "ethers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createMarkerFiles } from "../../../src/adapters/identity/marker-files.ts";
import { init } from "../../../src/app/commands/init.ts";
import { live } from "../../../src/app/commands/live.ts";
import { CommandFailure } from "../../../src/app/exit-codes.ts";
import type { LineSource } from "../../../src/app/init/lines.ts";
import { createJsonRpc, type JsonRpc } from "../../../src/chain/json-rpc.ts";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import { base } from "../../../src/networks/base.ts";
import { DEPLOYER } from "../../../src/sandbox/accounts.ts";
import { deployData, loadContract } from "../../../src/sandbox/artifacts.ts";
import { startBareAnvil } from "../../support/bare-anvil.ts";
import { openDaemonDatabase } from "../../support/daemon-database.ts";
import { type ForeignChain, startForeignChain } from "../../support/foreign-chain.ts";
import { minedReceipt } from "../../support/safe.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const USDC = getAddress(base.tokens.get("USDC")?.address ?? "");
/** nothing stands there */
const NOBODY = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

let chain: ForeignChain;
let rpc: JsonRpc;

beforeAll(async () => {
  chain = await startForeignChain(base);
  rpc = createJsonRpc({ url: chain.rpcUrl, timeoutMs: 10_000, maxBytes: 4_000_000 });
  vi.stubEnv("RPC_1", chain.rpcUrl);
  for (const name of ["SWAPD_CONFIG", "SWAPD_DATA", "SWAPD_IDENTITY", "RPC_2"]) vi.stubEnv(name, "");
}, 120_000);

afterAll(async () => {
  vi.unstubAllEnvs();
  await chain?.stop();
});

/** A person who types these lines, and what is shown, each answer after its question. */
function person(...typed: readonly string[]) {
  const shown: string[] = [];
  const left = [...typed];
  const lines: LineSource = {
    next: async (prompt) => {
      shown.push(prompt);
      return left.shift();
    },
    close: () => undefined,
  };
  const write = (text: string): void => void shown.push(text);
  return { lines, left, terminal: { out: write, err: write, isInteractive: false }, text: () => shown.join("\n") };
}

async function deployNamed(symbol: string): Promise<Address> {
  await rpc.call("anvil_impersonateAccount", [DEPLOYER.address]);
  const data = deployData(loadContract("PermitToken"), [symbol, symbol, 6]);
  const hash = await rpc.call("eth_sendTransaction", [{ from: DEPLOYER.address, data, gas: "0x989680" }]);
  const { contractAddress } = await minedReceipt((method, params) => rpc.call(method, [...params]), hash);
  return toAddress(String(contractAddress));
}

describe("swapd init, asked, with a chain to ask", () => {
  test("says of each answer what the chain says: what endpoints can do, a token's address and price, what slots sell", async () => {
    const folder = temporaryDirectory();
    const impostor = getAddress(await deployNamed("USDC"));
    const stranger = getAddress(await deployNamed("SAFEMOON"));
    const wrong = ["env:NOBODY_SETS_THIS", "http://127.0.0.1:1"];
    const { lines, left, terminal, text } = person(
      ...["base", ...wrong, "env:RPC_1", `100 ${impostor}`, `100 ${stranger}`, `100 ${NOBODY}`, "100 USDC", impostor],
      ...["WETH", "Mon 09:00", "Europe/Berlin", "none", "200 USD", "900 USD", NOBODY],
    );
    await init({ dir: folder }, terminal, lines);
    expect(left).toEqual([]);
    for (const words of [
      "the environment variable NOBODY_SETS_THIS is",
      /chain 8453 \(base\), block \d+, .* old; transactions are simulated by eth_simulateV1/,
      `${impostor} calls itself "USDC" and is another token: USDC of this network is ${USDC}; answer USDC`,
      `${stranger} calls itself "SAFEMOON": init knows the tokens that a feed prices`,
      `${getAddress(NOBODY)} does not say its name`,
      new RegExp(`USDC is ${USDC}, 6 decimals; 1 USDC is 1(\\.0+)? USD by its`),
      "each slot sells 100.00 USD",
      /WETH is 0x4200000000000000000000000000000000000006, 18 decimals; 1 WETH is 3000(\.0+)? USD by its/,
      /100 USDC are about 0\.0333\d* WETH at that price, before fees/,
      /next slots: Mon.*09:00/,
    ])
      expect(text()).toMatch(words);
    expect(text().match(/127\.0\.0\.1:1\b.*correct the endpoint/)).not.toBeNull();
    expect(text().match(/and is another token/g)).toHaveLength(2);
    expect(readFileSync(join(folder, "strategies/buy-weth.yaml"), "utf8")).toContain('sell: "100 USDC"');
  }, 60_000);
});

test("swapd init refuses a further endpoint that is of another chain, and says why one is silent", async () => {
  vi.stubEnv("RPC_2", (await startBareAnvil({ chainId: 1 })).url);
  vi.stubEnv("RPC_3", "http://127.0.0.1:1");
  const { lines, terminal, text } = person("base", "env:RPC_1,env:RPC_2", "env:RPC_1,env:RPC_3");
  const ended = init({ dir: temporaryDirectory() }, terminal, lines);
  await expect(ended).rejects.toThrow('ended at "sell how much');
  expect(text()).toMatch(/serves chain 1, not 8453: correct the RPC endpoint/);
  expect(text()).toMatch(/warning: what 127\.0\.0\.1\S* can do is not known, because .*: .*ECONNREFUSED/);
});

describe("swapd live", () => {
  const folder = mkdtempSync(join(tmpdir(), "swapd-live-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "swapd.yaml");
  const read = (): string => readFileSync(file, "utf8");

  const removeDatabase = (): void => {
    for (const end of ["", "-wal", "-shm"]) rmSync(join(folder, `swapd.db${end}`), { force: true });
  };

  async function typed(...answers: readonly string[]) {
    const one = person(...answers);
    const failure = await live({ config: file }, one.terminal, one.lines).then(
      () => undefined,
      (error: unknown) => {
        if (!(error instanceof CommandFailure)) throw error;
        return error.message;
      },
    );
    return { failure, text: one.text() };
  }

  let wallet: Address;
  beforeAll(async () => {
    const options = { dir: folder, yes: true, network: "base", sell: "25 USDC", buy: "WETH", wallet: "new" };
    const { terminal, text } = person();
    await init({ ...options, timezone: "Europe/Berlin" }, terminal);
    wallet = toAddress(/wallet +(0x[0-9a-fA-F]{40}): fund it/.exec(text())?.[1] ?? "");
    expect(readdirSync(folder)).toContain("wallet.json");
    const before = read();
    const poor = await typed("yes");
    expect(poor.failure, poor.text).toMatch(/nothing was changed: \d+ of these have to be put right first/);
    expect(poor.text, "it asks nobody before all is in order").not.toContain("trade for real");
    expect(read()).toBe(before);
    await chain.fund(wallet, { native: 1n, dollars: 900n });
  }, 60_000);

  test.each([["y"], []])("changes nothing where a person says %j", async (...answer) => {
    const before = read();
    const { failure, text } = await typed(...answer);
    expect(failure).toMatch(/^nothing was changed\non .*swapd\.yaml \(network base, mode paper, /);
    expect(text).toMatch(/at worst are sold\n +25\.00 USD in any 24 hours/);
    expect(text.indexOf("at worst")).toBeLessThan(text.indexOf("trade for real with"));
    expect(read()).toBe(before);
  });

  test("shows the very line to write where the file cannot be written, whatever comments say of a mode", async () => {
    const before = `# the mode: on paper until spring\n${read()}`;
    writeFileSync(file, before);
    const one = person("yes");
    // Somebody edits the file while it is asked about.
    const next = async (prompt: string): Promise<string | undefined> => {
      writeFileSync(file, `${before}# meanwhile\n`);
      return await one.lines.next(prompt);
    };
    const asked = live({ config: file }, one.terminal, { ...one.lines, next });
    const place = before.split("\n").findIndex((line) => line.startsWith("mode: paper")) + 1;
    await expect(asked).rejects.toThrow(
      new RegExp(`changed by somebody else.*in place of line ${place} of .*\n\nmode: live +# dry-run`),
    );
    writeFileSync(file, before);
  });

  test("refuses a wallet whose database is lost, whose marker knows it, and says how it is put back", async () => {
    const before = read();
    const marker = createMarkerFiles(join(folder, "identity"), 8453);
    const kept = marker.read(wallet);
    const state = { id: "the-one-that-traded", signatures: 1, signings: 1 };
    marker.write(wallet, { state, baseline: { block: 1, transactionCount: 1 } });
    const none = await typed("yes");
    // An empty database in its place is another one.
    const { db } = openDaemonDatabase(join(folder, "swapd.db"));
    const another = await typed("yes");
    db.close();
    for (const { failure, text } of [none, another]) {
      expect(failure, text).toBe("nothing was changed: 1 of these have to be put right first");
      expect(text).toMatch(/PROBLEM +database +.* is lost.* -> put it back with swapd restore --config /);
    }
    expect(read()).toBe(before);
    marker.write(wallet, kept ?? { state: undefined, baseline: undefined });
    removeDatabase();
  });

  test("says who halted what, why, and what releases it, in the place of a first trade", async () => {
    const { db, store } = openDaemonDatabase(join(folder, "swapd.db"));
    const mode = { mode: "halted", setBy: "ops", atMs: 1 } as const;
    store.setMode({ ...mode, scope: "global", reason: "holiday" });
    store.setMode({ ...mode, scope: "buy-weth", reason: "a bug" });
    db.close();
    const { text } = await typed("no");
    const resume = `once this is live: swapd resume%s --config ${file}`;
    expect(text).toContain(`buy-weth is halted, set by ops: a bug; ${resume.replace("%s", " buy-weth")}`);
    expect(text).toContain(`global is halted, set by ops: holiday; ${resume.replace("%s", "")}`);
    expect(text).toContain("buy-weth starts no run: ");
    expect(text).not.toContain("trades from its next slot on");
    removeDatabase();
  });

  test("says that a strategy that starts now trades at the start", async () => {
    const strategy = join(folder, "strategies", "buy-weth.yaml");
    const before = readFileSync(strategy, "utf8");
    writeFileSync(strategy, `${before}start: now\n`);
    const { text } = await typed("no");
    expect(text).toMatch(/buy-weth trades at the start, and then from its next slot on: Mon/);
    expect(text).toMatch(/^\S+, at once +\S+ \S+ \S+ +buy-weth +swap /m);
    writeFileSync(strategy, before);
  });

  test("takes what a person stopped on paper along, asked and not taken yet too, whatever paper itself came to", async () => {
    const before = read();
    const paper = openDaemonDatabase(join(folder, "swapd.db.paper.db"));
    const by = { setBy: "ops", atMs: 1 } as const;
    paper.store.setMode({ ...by, scope: "buy-weth", mode: "paused", reason: "this rule is wrong" });
    paper.store.setMode({ ...by, scope: "gone", mode: "paused", reason: "its file is gone" });
    paper.store.setMode({ ...by, scope: "global", mode: "exits-only", setBy: "policy", reason: "a loss on paper" });
    const said = await typed("no");
    expect(said.text).toContain(
      `buy-weth is paused, set by ops: this rule is wrong; once this is live: swapd resume buy-weth --config ${file}`,
    );
    expect(said.text).not.toContain("trades from its next slot on");
    expect(said.text).not.toContain("a loss on paper");
    expect(readdirSync(folder)).not.toContain("swapd.db");

    const ask = "INSERT INTO requests (command, arguments, made_by, made_at_ms) VALUES ('mode', ?, 'ann', 2)";
    paper.db.prepare(ask).run(JSON.stringify({ mode: "halted", reason: "it hangs" }));
    paper.db.close();
    const { failure, text } = await typed("yes");
    expect(failure, text).toBeUndefined();
    expect(text).toContain(
      `kept from paper, in ${join(folder, "swapd.db")}: buy-weth paused (this rule is wrong), global halted (it hangs)`,
    );
    const live = openDaemonDatabase(join(folder, "swapd.db"));
    const modes = live.store.modes().map(({ scope, mode, setBy }) => `${scope} ${mode} ${setBy}`);
    expect(modes).toEqual(["buy-weth paused ops", "global halted ann"]);
    live.db.close();
    removeDatabase();
    writeFileSync(join(folder, "swapd.db.paper.db"), "no database");
    writeFileSync(file, before);
    expect((await typed("no")).text).toMatch(/warning +database +what was halted or paused on paper is not known: /);
    rmSync(join(folder, "swapd.db.paper.db"));
  });

  test("sets the mode alone once a person said yes, names the first slot, and does it once", async () => {
    const before = read();
    const { failure, text } = await typed("yes");
    expect(failure, text).toBeUndefined();
    expect(text).toMatch(/buy-weth trades from its next slot on: Mon/);
    expect(text).toContain(`${file} is live now: mode: live`);
    expect(text).toContain(`(network base, mode live, database ${join(folder, "swapd.db")})`);
    const live = read();
    expect(live).toBe(before.replace("mode: paper ", "mode: live  "));
    expect((await typed("yes")).text).toContain("live already: nothing was changed");
    expect(read()).toBe(live);
  });
});

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { setAside } from "../../src/app/sandbox-files.ts";
import { forkUrlOf } from "../../src/app/sandbox-request.ts";
import { claimPort } from "../../src/sandbox/free-port.ts";
import { runHere } from "../e2e/support/run-here.ts";
import { makeFolder, run } from "../e2e/support/swapd.ts";

/** Listens on a port until the test ends. */
async function occupy(port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
}

/** The first of three free ports in a row. */
async function threePorts(): Promise<number> {
  for (;;) {
    const port = await claimPort(0);
    const next = await Promise.allSettled([claimPort(port + 1), claimPort(port + 2)]);
    if (next.every(({ status }) => status === "fulfilled")) return port;
  }
}

function folderWithHistory(): { path: string; history: string } {
  const folder = makeFolder();
  onTestFinished(folder.remove);
  const directory = join(folder.path, ".swapd", "sandbox");
  mkdirSync(directory, { recursive: true });
  const history = join(directory, "swapd.db");
  writeFileSync(history, "what the last sandbox did");
  return { path: folder.path, history };
}

it.each([
  ["chain", 0],
  ["service", 1],
  ["status server", 2],
])("keeps the last sandbox's history when the port of the %s is in use, and ends with 75", async (what, offset) => {
  const { path, history } = folderWithHistory();
  const port = await threePorts();
  await occupy(port + offset);
  const ended = await run(path, ["sandbox", "--port", String(port), "--for", "1s"]);
  expect(ended).toMatchObject({
    code: 75,
    err: expect.stringContaining(`Port ${port + offset} of 127.0.0.1 is in use`),
  });
  expect(ended.err).toContain(`--port ${port} chose it for the ${what}`);
  expect(readFileSync(history, "utf8")).toBe("what the last sandbox did");
});

it.each(["65534", "65535", "70000"])(
  "refuses the first port %s, after which no two follow, and ends with 2",
  async (port) => {
    const { path, history } = folderWithHistory();
    const ended = await runHere(path, ["sandbox", "--port", port, "--for", "1s"]);
    expect(ended).toMatchObject({
      code: 2,
      err: expect.stringContaining("give 1 to 65533, or 0, which takes free ones"),
    });
    expect(readFileSync(history, "utf8")).toBe("what the last sandbox did");
  },
);

it("keeps the last sandbox's history when its configuration is missing, and ends with 78", async () => {
  const { path, history } = folderWithHistory();
  const ended = await runHere(path, ["sandbox", "--port", "0", "--for", "1s", "--config", "nowhere.yaml"]);
  expect(ended).toMatchObject({ code: 78, err: expect.stringContaining("nowhere.yaml is missing") });
  expect(readFileSync(history, "utf8")).toBe("what the last sandbox did");
});

it("says where it may be run when it cannot make its folder, and ends with 78", async () => {
  const folder = makeFolder();
  onTestFinished(folder.remove);
  writeFileSync(join(folder.path, ".swapd"), "in the way");
  const ended = await runHere(folder.path, ["sandbox", "--port", "0", "--for", "1s"]);
  expect(ended).toMatchObject({ code: 78, err: expect.stringContaining("run it in a folder that you may write to") });
});

it("refuses a configuration of a real network, keeps the last sandbox's history, and ends with 2", async () => {
  const { path, history } = folderWithHistory();
  const own = join(path, "config", "own.yaml");
  writeFileSync(own, readFileSync(join(path, "config", "mainnet.example.yaml"), "utf8"));
  const ended = await runHere(path, ["sandbox", "--port", "0", "--for", "1s", "--config", own]);
  expect(ended).toMatchObject({ code: 2, err: expect.stringContaining("own.yaml is a configuration of base") });
  expect(readFileSync(history, "utf8")).toBe("what the last sandbox did");
});

it.each([
  [["--fund", "5000 USDC"], "add --fork-url with an endpoint of the configuration's network"],
  [["--fund", "5000 USDC", "--fork-url", "env:FORK"], "config/sandbox.yaml is a configuration of the sandbox"],
  [["--fund", "5000 USDC", "--fork-url", "env:FORK", "--config", "my.yaml"], "my.yaml is missing"],
])("refuses %j, whose money nobody would get, and ends with 2", async (options, why) => {
  const { path, history } = folderWithHistory();
  const ended = await runHere(path, ["sandbox", "--port", "0", "--for", "1s", ...options]);
  expect(ended).toMatchObject({ code: 2, err: expect.stringContaining(why) });
  expect(readFileSync(history, "utf8")).toBe("what the last sandbox did");
});

it("refuses in a rehearsal what would be of no effect there, all of it at once, and ends with 2", async () => {
  const { path } = folderWithHistory();
  const own = join(path, "config", "own.yaml");
  writeFileSync(own, readFileSync(join(path, "config", "mainnet.example.yaml"), "utf8"));
  const rehearse = async (...options: string[]) =>
    await runHere(path, ["sandbox", "--port", "0", "--config", own, "--fork-url", "http://127.0.0.1:9", ...options]);
  const all = await rehearse("--json", "--no-daemon", "--chain-only", "--no-market", "--seed", "1");
  const said = "--json, --no-daemon, --chain-only, --no-market, --seed are of no use in a rehearsal";
  expect(all).toMatchObject({ code: 2, err: expect.stringContaining(said) });
  const one = await rehearse("--no-market");
  expect(one).toMatchObject({ code: 2, err: expect.stringContaining("--no-market is of no use in a rehearsal") });
});

it("says that there was no rehearsal, and how to start one, and ends with 1", async () => {
  const { path } = folderWithHistory();
  const ended = await runHere(path, ["history", "--rehearsal"]);
  expect(ended).toMatchObject({ code: 1, err: expect.stringContaining("there was no rehearsal in this folder") });
  expect(ended.err).toContain("swapd sandbox --fork-url URL");
});

it("takes the URL to fork from from the environment, and says which variable is missing", () => {
  expect(forkUrlOf("env:FORK", { FORK: "https://node.example/key" })).toBe("https://node.example/key");
  expect(forkUrlOf("https://node.example/key", {})).toBe("https://node.example/key");
  expect(forkUrlOf(undefined, {})).toBeUndefined();
  expect(() => forkUrlOf("env:FORK", { FORK: "" })).toThrow("the environment variable FORK is not set, or empty");
});

it("keeps the last sandbox's history when a strategy has a mistake, which is known once the chain stands, and ends with 78", async () => {
  const { path, history } = folderWithHistory();
  writeFileSync(join(path, "strategies", "sandbox", "odd.yaml"), "kind: dca\n");
  const ended = await run(path, ["sandbox", "--port", "0", "--for", "1s", "--no-market"]);
  expect(ended).toMatchObject({ code: 78, err: expect.stringContaining("odd.yaml") });
  expect(readFileSync(history, "utf8")).toBe("what the last sandbox did");
  expect(readdirSync(join(history, "..")).filter((name) => name !== "lock.db")).toEqual(["swapd.db"]);
}, 60_000);

it("takes all that the last sandbox left out of the way, on paper too, and nothing that somebody else put there", () => {
  const { history } = folderWithHistory();
  const directory = join(history, "..");
  const names = [
    "swapd.db.paper.db",
    "swapd.db.paper.db-wal",
    "swapd.db.limiter.db",
    "service.db.lock.db",
    "chain.json",
  ];
  const kept = ["lock.db", "mine.csv"];
  for (const name of [...names, ...kept]) writeFileSync(join(directory, name), name);
  mkdirSync(join(directory, "identity"));
  setAside(directory);
  expect(readdirSync(directory).sort()).toEqual(["last", ...kept]);
  writeFileSync(join(directory, "swapd.db.paper.db-shm"), "of a start that was killed");
  // The next start finds what the killed one set aside.
  const last = setAside(directory);
  writeFileSync(join(directory, "swapd.db"), "new");
  last.bringBack();
  expect(readdirSync(directory).sort()).toEqual(["swapd.db", "identity", ...names, ...kept].sort());
  expect(readFileSync(history, "utf8")).toBe("what the last sandbox did");
  const again = setAside(directory);
  again.drop();
  again.bringBack();
  expect(readdirSync(directory).sort()).toEqual(kept);
});

it("loses nothing of the last sandbox to a kill while a part of it was set aside or brought back", () => {
  const { history } = folderWithHistory();
  const directory = join(history, "..");
  writeFileSync(join(directory, "chain.json"), "of the last sandbox");
  mkdirSync(join(directory, "moving"));
  renameSync(join(directory, "chain.json"), join(directory, "moving", "chain.json"));
  setAside(directory).bringBack();
  expect(readdirSync(directory).sort()).toEqual(["chain.json", "swapd.db"]);
  expect(readFileSync(history, "utf8")).toBe("what the last sandbox did");
});

it("on paper it is replaced by the next, its commands read the rows that it wrote, and there is nothing to audit", async () => {
  const { path } = folderWithHistory();
  const file = join(path, "config", "paper.yaml");
  const shipped = readFileSync(join(path, "config", "sandbox.yaml"), "utf8");
  const amounts = "paper: { USDC: 100000, DAI: 100000, WETH: 50, ETH: 50, WBTC: 2 }";
  writeFileSync(file, shipped.replace("mode: live", "mode: paper").replace(/main: .*/, `main: { ${amounts} }`));
  const database = join(path, ".swapd", "sandbox", "swapd.db.paper.db");
  mkdirSync(join(path, ".swapd", "sandbox"), { recursive: true });
  writeFileSync(database, "what the last sandbox did on paper");
  const ended = await run(path, ["sandbox", "--config", file, "--port", "0", "--for", "6s"]);
  expect(ended.code, ended.err).toBe(0);
  expect(ended.out).toMatch(/\d+ swaps? filled/);
  expect(ended.out).not.toMatch(/^audit/m);
  const history = await runHere(path, ["history"]);
  expect(history).toMatchObject({ code: 0, out: expect.stringContaining("mode paper: ") });
  expect(history.out).toContain(`(database ${database})`);
  const audit = await runHere(path, ["audit"]);
  expect(audit).toMatchObject({
    code: 1,
    err: expect.stringContaining("the mode is paper: nothing of it is on the chain"),
  });
  expect(existsSync(`${database}.paper.db`)).toBe(false);
}, 90_000);

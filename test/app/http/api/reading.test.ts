import { expect, it } from "vitest";
import { startApiLife } from "../../../support/api-life.ts";

it("answers 304 to who has the same answer, and another tag once it is another one", async () => {
  const life = await startApiLife();
  const first = await life.as("read", "/api/v1/runs");
  const etag = first.headers.etag ?? "";
  const again = await life.as("read", "/api/v1/runs", { headers: { "if-none-match": `"other", W/${etag}` } });
  expect([again.status, again.text]).toEqual([304, ""]);
  life.life.db.prepare("UPDATE runs SET detail = 'another one'").run();
  const changed = await life.as("read", "/api/v1/runs", { headers: { "if-none-match": etag } });
  expect([changed.status, changed.headers.etag === etag]).toEqual([200, false]);
});

it("packs a long answer for who can unpack it: it is the same one, by the same tag", async () => {
  const life = await startApiLife();
  const path = "/api/v1/portfolio/history?points=800&until=2026-01-01T00:00:00Z";
  const headers = { authorization: `Bearer ${life.tokens.read}` };
  const plain = await fetch(`${life.url}${path}`, { headers: { ...headers, "accept-encoding": "identity" } });
  const packed = await fetch(`${life.url}${path}`, { headers: { ...headers, "accept-encoding": "br, gzip" } });
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect(packed.headers.get("content-encoding")).toBe("gzip");
  for (const name of ["etag", "vary", "content-type"])
    expect([name, packed.headers.get(name)]).toEqual([name, plain.headers.get(name)]);
  const text = await plain.text();
  expect(await packed.text()).toBe(text);
  expect(Number(packed.headers.get("content-length"))).toBeLessThan(text.length / 4);
  const short = await fetch(`${life.url}/api/v1/wallets`, { headers: { ...headers, "accept-encoding": "gzip" } });
  expect(short.headers.get("content-encoding")).toBeNull();
});

it("pages through all runs once each, in the order of their slots, also where slots are the same", async () => {
  const life = await startApiLife({ seconds: 1 });
  const insert = life.life.db.prepare(
    `INSERT INTO runs (id, strategy, slot_ms, state, reason, spec_hash, window_ends_ms, created_at_ms, ended_at_ms)
     VALUES (?, ?, ?, 'due', NULL, 'spec', ?, ?, NULL)`,
  );
  for (let index = 0; index < 130; index += 1) {
    const slotMs = 1_700_000_000_000 + Math.floor(index / 2) * 1_000;
    insert.run(`run_${String(index).padStart(3, "0")}`, index % 2 === 0 ? "one" : "other", slotMs, slotMs, slotMs);
  }
  const seen: string[] = [];
  let next: string | null = "";
  while (next !== null) {
    const page = await life.as("read", `/api/v1/runs?limit=37${next === "" ? "" : `&before=${next}`}`);
    seen.push(...page.json.items.map((run: { id: string }) => run.id));
    next = page.json.next;
  }
  const stored = life.life.db.prepare("SELECT id FROM runs ORDER BY slot_ms DESC, id DESC").pluck().all();
  expect(seen).toEqual(stored);
  const one = await life.as("read", "/api/v1/runs?strategy=one&limit=500");
  expect(one.json.items).toHaveLength(65);
});

it.each([
  "/api/v1/runs?limit=0",
  "/api/v1/runs?limit=501",
  "/api/v1/runs?limit=1&limit=2",
  "/api/v1/runs?before=nothing",
  "/api/v1/runs?colour=red",
  "/api/v1/alerts?before=-1",
  "/api/v1/strategies/weekly/why?at=yesterday",
  "/api/v1/prices/WETH?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z",
])("refuses %s, and says why", async (path) => {
  const life = await startApiLife({ seconds: 1 });
  const answer = await life.as("read", path);
  expect(answer.json).toMatchObject({ status: 400, code: "REQUEST_MALFORMED", detail: expect.stringMatching(/\w/) });
});

it.each([
  "/api/v1/runs/run_none",
  "/api/v1/strategies/none",
  "/api/v1/strategies/none/why",
  "/api/v1/strategies/none/next",
  "/api/v1/prices/NONE",
  "/api/v1/nothing",
  "/api/v1/strategies/__proto__",
])("knows nothing of %s", async (path) => {
  const life = await startApiLife({ seconds: 1 });
  expect((await life.as("read", path)).json).toMatchObject({ status: 404, code: "NOT_FOUND" });
});

it("shows a fill in the units of people and of machines, against its quote and its reference", async () => {
  const life = await startApiLife();
  const [run] = (await life.as("read", "/api/v1/runs")).json.items;
  const [swap] = run.swaps;
  expect(swap.sold).toMatchObject({ amount: "100", raw: "100000000", decimals: 6, symbol: "USDC" });
  expect(BigInt(swap.bought.raw)).toBe(BigInt(String(life.life.db.prepare("SELECT bought FROM swaps").pluck().get())));
  expect(swap).toMatchObject({ soldUsd: "100", againstQuote: expect.stringMatching(/^-?\d+(\.\d+)?$/) });
  const details = (await life.as("read", `/api/v1/runs/${swap.id}`)).json;
  expect(details.transitions.map((one: { to: string }) => one.to)).toEqual(
    expect.arrayContaining(["due", "confirmed"]),
  );
  expect(details.swaps[0].checks.length).toBeGreaterThan(5);
  expect(details.swaps[0].transactions.map((one: { purpose: string }) => one.purpose)).toContain("swap");
});

it("calculates the value over time back from what the wallets have, fill by fill", async () => {
  const life = await startApiLife();
  const since = new Date(life.outside.clock.nowMs() - 120_000).toISOString();
  const { json } = await life.as("read", `/api/v1/portfolio/history?since=${since}&points=5`);
  const usdc = json.tokens.find((one: { token: { symbol: string } }) => one.token.symbol === "USDC");
  expect([usdc.amount[0], usdc.amount.at(-1)]).toEqual(["1000", "900"]);
});

it("counts a fill at once in what the wallets have, which the rows are compared with the chain for by the hour", async () => {
  const life = await startApiLife();
  const amounts = (all: readonly { amount: string; symbol: string }[]): readonly string[] =>
    all.map(({ amount, symbol }) => `${amount} ${symbol}`);
  const [fill] = (await life.as("read", "/api/v1/fills")).json.items;
  const { holdings, totalUsd } = (await life.as("read", "/api/v1/portfolio")).json;
  const has = ["900 USDC", `${3 + Number(fill.bought.amount)} WETH`, "0 WBTC"];
  const coin = expect.stringMatching(/^9\.999\d* ETH$/);
  expect(amounts(holdings.map(({ money }: { money: never }) => money))).toEqual([...has, coin]);
  const [wallet] = (await life.as("read", "/api/v1/wallets")).json.wallets;
  expect(amounts(wallet.balances)).toEqual(has);
  const filledAt = life.life.db.prepare("SELECT block_number FROM swaps").pluck().get();
  expect(wallet.fillsTo).toBe(filledAt);
  expect(wallet.block, "the balances were read before").toBeLessThan(filledAt as number);
  expect(holdings[0].block).toBe(wallet.block);
  const chart = (await life.as("read", "/api/v1/portfolio/history?points=2")).json;
  // No price of the coin was recorded, nor of what wraps it.
  expect(chart.without).toEqual(["ETH"]);
  expect(Number(totalUsd) - Number(holdings.at(-1).valueUsd)).toBeCloseTo(Number(chart.totalUsd.at(-1)), 9);
});

it("takes no strategy that no file names now for an active one, and says where its runs are", async () => {
  const { life, as } = await startApiLife();
  const row = life.db.prepare("SELECT * FROM strategies").get() as Record<string, unknown>;
  const columns = Object.keys(row);
  const insert = `INSERT INTO strategies (${columns}) VALUES (${columns.map((name) => `@${name}`)})`;
  life.db.prepare(insert).run({ ...row, id: "gone" });
  const { strategies } = (await as("read", "/api/v1/status")).json;
  const standing = strategies.map(({ id, inForce }: { id: string; inForce: boolean }) => [id, inForce]);
  expect(standing).toEqual([
    ["weekly", true],
    ["gone", false],
  ]);
  const { status, json } = await as("read", "/api/v1/strategies/gone");
  expect([status, json.detail]).toEqual([404, 'no file names the strategy "gone" now; its runs can still be read']);
});

it("says what a strategy would do next without writing anything", async () => {
  const life = await startApiLife();
  const rows = (): unknown => life.life.db.prepare("SELECT count(*) FROM transitions").pluck().get();
  const before = rows();
  const { json } = await life.as("read", "/api/v1/strategies/weekly/next");
  expect(json).toMatchObject({ strategy: "weekly", verdict: "would trade", swaps: [{ sell: { symbol: "USDC" } }] });
  expect(rows()).toBe(before);
});

import { readFileSync, writeFileSync } from "node:fs";
import { beforeEach, expect, it } from "vitest";
import { openPaperRows } from "../../../src/adapters/sqlite/paper/open-paper-rows.ts";
import { runCli } from "../../../src/app/cli.ts";
import { turnUntil } from "../../support/engine-life.ts";
import { type BooksHome, booksHome } from "./support/books-home.ts";

let file: BooksHome["file"];
let life: BooksHome["life"];
let outside: BooksHome["outside"];
let swapd: BooksHome["swapd"];
beforeEach(async () => {
  ({ file, life, outside, swapd } = await booksHome("0x70997970C51812dc3A010C7d01b50e0d17dc79C8"));
});

it("an export writes what is final, names what is not, and says on what", async () => {
  // Its fill is known, and not final.
  const confirmed = life.db.prepare<[], string>("SELECT id FROM swaps WHERE state = 'confirmed'").pluck();
  const isDone = (): boolean => confirmed.all().length > 0;
  expect(await turnUntil(outside, life, { maxSeconds: 90, isDone })).toBe(true);
  const open = confirmed.all();
  const { code, out, err } = await swapd("export", "--format", "jsonl");
  const records = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, string | null>);
  const swaps = records.filter(({ type }) => type === "swap");
  expect([code, swaps.length > 0, records[0]?.world]).toEqual([0, true, "live"]);
  expect(err).toContain(`${swaps.length} swaps and `);
  expect(err).toContain(life.file);
  for (const id of open) expect(err).toContain(id);
  expect(swaps.filter(({ swap }) => open.includes(String(swap)))).toEqual([]);
});

it("two exports that touch have all entries of one, each once", async () => {
  const lines = async (...words: string[]) =>
    (await swapd("export", "--format", "csv", ...words)).out.trim().split("\n").slice(1);
  const all = await lines();
  const times = all.map((line) => /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/.exec(line)?.[0] ?? "");
  const middle = times[Math.floor(times.length / 2)] ?? "";
  const [before, after] = [await lines("--until", middle), await lines("--since", middle)];
  expect([before.length > 0, after.length > 0]).toEqual([true, true]);
  expect([...before, ...after]).toEqual(all);
  expect((await swapd("export", "--format", "csv", "--since", "2027-01-01", "--until", "2026-12-31")).code).toBe(2);
});

it("a time without entries is no line of jsonl, and no empty one, which is no document", async () => {
  const out: string[] = [];
  const terminal = { out: (text: string) => void out.push(text), err: () => undefined, isInteractive: false };
  const words = ["export", "--format", "jsonl", "--since", "2099-01-01", "--config", file];
  expect([await runCli(["node", "swapd", ...words], terminal), out]).toEqual([0, []]);
});

it("books of a wallet on paper say so, and are refused to programs that cannot tell them from real trades", async () => {
  openPaperRows(life.db);
  for (const format of ["koinly", "cointracking"]) {
    const refused = await swapd("export", "--format", format);
    expect([refused.code, refused.out]).toEqual([1, ""]);
    expect(refused.err).toContain("books of a wallet on paper");
  }
  for (const format of ["csv", "jsonl", "hledger", "beancount"]) {
    const { code, out, err } = await swapd("export", "--format", format);
    expect(code).toBe(0);
    expect(out.toLowerCase()).toContain("paper");
    expect(err).toContain("of the paper: none of it is real money");
  }
});

it("an unknown format, wallet or day is named, with what there is", async () => {
  const format = await swapd("export", "--format", "turbotax");
  expect(format.code).toBe(2);
  const wallet = await swapd("export", "--format", "csv", "--wallet", "mian");
  expect([wallet.code, wallet.err]).toEqual([2, expect.stringMatching(/no wallet "mian"; there are: .*main/)]);
  expect((await swapd("export", "--format", "csv", "--since", "yesterday")).code).toBe(2);
  expect((await swapd("export", "--format", "csv", "--wallet", "main")).code).toBe(0);
});

it("names of the owner that a format cannot write are refused with the file", async () => {
  const names = `${file}.names.csv`;
  writeFileSync(names, "address,name\nnative,ether coin\n");
  const refused = await swapd("export", "--format", "koinly", "--names", names);
  expect([refused.code, refused.err]).toEqual([
    2,
    expect.stringContaining('"ether coin" for 0x0000000000000000000000000000000000000000'),
  ]);
  writeFileSync(names, readFileSync(names, "utf8").replace("ether coin", "ETH2"));
  expect((await swapd("export", "--format", "koinly", "--names", names)).out).toContain(",ETH2,");
});

it("a report of a wallet that swaps of another one paid has the time of these entries, as its export has them", async () => {
  const paid = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8".toLowerCase();
  life.db.exec(`DROP TRIGGER swaps_content; UPDATE swaps SET recipient = '${paid}'`);
  const transfers = (await swapd("export", "--format", "jsonl", "--wallet", "main")).out.trim().split("\n");
  expect(transfers.every((line) => line.includes('"type":"transfer"') && line.includes(paid))).toBe(true);
  const page = `${file}.html`;
  expect((await swapd("report", "--html", page, "--wallet", "main")).code).toBe(0);
  expect(readFileSync(page, "utf8")).not.toContain("no entries");
});

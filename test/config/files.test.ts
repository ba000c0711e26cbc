import { join } from "node:path";
import { expect, it } from "vitest";
import { resolveSecret } from "../../src/config/files.ts";
import { write } from "./project.ts";

it("a secret is found in the environment or in a file, without the file's last line break", () => {
  const folder = write({ "key.txt": "  s3cret \n", "windows.txt": "s3cret\r\n" });
  expect(resolveSecret({ env: "KEY" }, { KEY: "s3cret" })).toEqual({ ok: true, value: "s3cret" });
  expect(resolveSecret({ file: join(folder, "key.txt") }, {})).toEqual({ ok: true, value: "  s3cret " });
  expect(resolveSecret({ file: join(folder, "windows.txt") }, {})).toEqual({ ok: true, value: "s3cret" });
});

it("a secret that is not there is a problem that says where it was looked for", () => {
  const folder = write({ "empty.txt": "\n" });
  expect(resolveSecret({ env: "KEY" }, {})).toEqual({ ok: false, problem: "the environment variable KEY is not set" });
  expect(resolveSecret({ env: "KEY" }, { KEY: "" })).toEqual({
    ok: false,
    problem: "the environment variable KEY is empty",
  });
  const nowhere = join(folder, "nowhere");
  expect(resolveSecret({ file: nowhere }, {})).toEqual({ ok: false, problem: `the file ${nowhere} does not exist` });
  const empty = join(folder, "empty.txt");
  expect(resolveSecret({ file: empty }, {})).toEqual({ ok: false, problem: `the file ${empty} is empty` });
  expect(resolveSecret({ file: folder }, {})).toEqual({ ok: false, problem: `the file ${folder} is no file` });
});

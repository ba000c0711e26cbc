import { expect, test } from "vitest";
import { httpUrl } from "../../src/net/http-url.ts";

test.each([
  ["127.0.0.1", "http://127.0.0.1:9465"],
  ["localhost", "http://localhost:9465"],
  ["::1", "http://[::1]:9465"],
])("who listens at %s is asked at %s", (host, url) => {
  expect(httpUrl({ host, port: 9465 })).toBe(url);
  expect(new URL(httpUrl({ host, port: 9465 })).port).toBe("9465");
});

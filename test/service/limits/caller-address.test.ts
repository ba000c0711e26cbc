import { expect, test } from "vitest";
import { callerOf, networksOf } from "../../../src/service/limits/caller-address.ts";

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:0DB8:1:2::9", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["64:ff9b::", "64:ff9b:0:0::/64"],
  // Some proxies write the port that a caller sends from beside its address.
  ["192.0.2.7:51234", "192.0.2.7"],
  ["[2001:db8:1:2::9]:51234", "2001:db8:1:2::/64"],
  ["[2001:db8:1:2::9]", "2001:db8:1:2::/64"],
  ["[::ffff:192.0.2.7]:443", "192.0.2.7"],
  ["[2001:470:1:2::9]:443", "2001:470:1:2::/64"],
  // What of an address looks like a port is none where all its digits are decimal.
  ["2001:470:1:2::9", "2001:470:1:2::/64"],
  ["2001:470:1:3:4:5:6:7", "2001:470:1:3::/64"],
  ["2400::1", "2400:0:0:0::/64"],
])("%s counts as %s: a customer of a network cannot become many callers", (address, caller) => {
  expect(callerOf(address)).toBe(caller);
});

test("a proxy is known by its address, also where all digits of it are decimal", () => {
  const isProxy = networksOf(["2001:470::/32", "192.0.2.0/24"]);
  const addresses = ["2001:470:1:2::9", "[2001:470::9]:443", "::ffff:192.0.2.7", "2001:471::9", "192.0.3.7", "unknown"];
  expect(addresses.map(isProxy)).toEqual([true, true, true, false, false, false]);
});

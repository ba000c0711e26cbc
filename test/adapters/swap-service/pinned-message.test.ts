import { describe, expect, it } from "vitest";
import {
  type Field,
  type MessagePin,
  pinnedTypedData,
  readPinnedMessage,
} from "../../../src/adapters/swap-service/pinned-message.ts";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import type { TypedData } from "../../../src/domain/guard/typed-data.ts";
import { OWNER, ROUTER, WETH } from "../../domain/guard/swap-samples.ts";

const SHORT: readonly Field[] = [
  { name: "to", type: "address" },
  { name: "validTo", type: "uint32" },
  { name: "appData", type: "bytes32", is: `0x${"b4".repeat(32)}` },
  { name: "kind", type: "string", is: "sell" },
  { name: "partiallyFillable", type: "bool", is: false },
];
/** As many fields, of which one has another type. */
const OTHER: readonly Field[] = [...SHORT.slice(0, 1), { name: "validTo", type: "uint256" }, ...SHORT.slice(2)];
const PIN: MessagePin = { domain: { name: "Book", version: "1" }, primaryType: "Order", forms: [SHORT, OTHER] };
const pinned = { chainId: 31_337, contracts: oneContract(ROUTER), wrappedNative: WETH };

const values = { to: OWNER, validTo: "4294967295" };
const order = pinnedTypedData(PIN, SHORT, { message: values, pinned });
const read = (message: Record<string, unknown>, types = order.types) =>
  readPinnedMessage(PIN, { ...order, types, message: { ...order.message, ...message } }, pinned);

describe("a pinned message", () => {
  it("is built with the pinned values, and read back", () => {
    expect(order.message).toMatchObject({ ...values, kind: "sell", partiallyFillable: false });
    expect(order.types.Order?.map(({ name, type }) => `${type} ${name}`)).toEqual(
      SHORT.map(({ name, type }) => `${type} ${name}`),
    );
    const message = read({});
    expect(message).toMatchObject({ ok: true, verifyingContract: ROUTER });
    expect(message.ok && [message.address("to"), message.number("validTo")]).toEqual([OWNER, 4_294_967_295n]);
    expect(message.ok && [message.has("to"), message.has("kind")]).toEqual([true, false]);
    expect(() => message.ok && message.number("to")).toThrow("the pinned fields lack to");
  });

  it.each([
    ["kind", "buy", 'the message\'s kind is not the pinned "sell": buy'],
    ["partiallyFillable", true, "the message's partiallyFillable is not the pinned false: true"],
    ["partiallyFillable", "false", "the message's partiallyFillable is not the pinned false: false"],
    ["appData", `0x${"b5".repeat(32)}`, "the message's appData is not the pinned"],
    ["appData", undefined, "the message's appData is not the pinned"],
    ["validTo", "4294967296", "the message's validTo is no uint32: 4294967296"],
    ["validTo", "-1", "the message's validTo is no uint32: -1"],
    ["to", "0x12", "the message's to is no address with a right checksum: 0x12"],
    ["hooks", "0x", 'the message has the unknown field "hooks"'],
  ])("is refused where its %s is %s", (name, value, problem) => {
    expect(read({ [name]: value })).toMatchObject({ ok: false, problem: expect.stringContaining(problem) });
  });

  it.each([
    ["name", "has the domain"],
    ["version", "has the domain"],
    ["chainId", "is of chain"],
    ["verifyingContract", "names the contract"],
  ])("is refused where the %s of its domain is a value of which JavaScript makes no text", (name, words) => {
    const domain = { ...order.domain, [name]: { toString: 1 } };
    const message = readPinnedMessage(PIN, { ...order, domain }, pinned);
    expect(message).toMatchObject({ ok: false, problem: expect.stringContaining(words) });
    expect(message).toMatchObject({ problem: expect.stringContaining('{"toString":1}') });
  });

  it.each(["to", "validTo", "kind"])("is refused where its %s is a value of which JavaScript makes no text", (name) => {
    const problem = expect.stringMatching(/the message's \w+ is no.*: \[\{"toString":1\}\]$/);
    expect(read({ [name]: [{ toString: 1 }] })).toMatchObject({ ok: false, problem });
  });

  const long = "x".repeat(500_000);
  const manyFields = Array.from({ length: 20_000 }, (_, at) => ({ name: `field${at}`, type: "uint256" }));
  const manyTypes = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`Type${at}`, []]));
  it.each<[string, Partial<TypedData>]>([
    ["domain's name", { domain: { ...order.domain, name: long } }],
    ["domain's contract", { domain: { ...order.domain, verifyingContract: long } }],
    ["domain's field", { domain: { ...order.domain, [long]: 1 } }],
    ["type", { types: { Order: manyFields } }],
    ["list of types", { types: manyTypes }],
    ["message's field", { message: { ...order.message, [long]: 1 } }],
    ["message's value", { message: { ...order.message, kind: [long] } }],
  ])("is refused in few words where its %s is long", (_, change) => {
    const message = readPinnedMessage(PIN, { ...order, ...change }, pinned);
    expect(message).toMatchObject({ ok: false, problem: expect.stringMatching(/^.{20,600}$/) });
  });

  it("is read by the form that its types name, also where another one has as many fields", () => {
    const types = { Order: OTHER.map(({ name, type }) => ({ name, type })) };
    expect(read({ validTo: "4294967296" }, types)).toMatchObject({ ok: true });
    expect(read({}, { Order: types.Order.slice(1) })).toMatchObject({ ok: false });
  });
});

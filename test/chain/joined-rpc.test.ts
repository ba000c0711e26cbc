import { describe, expect, test } from "vitest";
import { joinRpcs, type Member } from "../../src/chain/joined-rpc.ts";
import { type JsonRpc, RpcError } from "../../src/chain/json-rpc.ts";

const GONE = new RpcError({ kind: "transport", host: "gone", message: "gone: no answer" });

function said(words: string, code = -32_000): RpcError {
  return new RpcError({ kind: "rpc", host: "node", message: words, nodeMessage: words, code });
}

/** An endpoint that answers everything with this, and counts what it is asked. */
function member(answer: unknown, rank = 0) {
  const asked: string[] = [];
  const take = (method: string): unknown => {
    asked.push(method);
    return answer;
  };
  const rpc: JsonRpc = {
    host: "node",
    async call(method) {
      const taken = take(method);
      if (taken instanceof RpcError) throw taken;
      return taken;
    },
    async batch(requests) {
      const answers = requests.map(({ method }) => take(method));
      const lost = answers.find((one) => one instanceof RpcError && one.kind === "transport");
      if (lost !== undefined) throw lost;
      return answers;
    },
  };
  return { rpc, rank: () => rank, asked } satisfies Member & { asked: string[] };
}

const join = (...members: readonly Member[]): JsonRpc =>
  joinRpcs(members, { host: () => "node", prove: async () => undefined });

const FREE = { method: "eth_call", params: [{ to: "0x", data: "0x" }, "latest"] };
const BOUND = { method: "eth_call", params: [{ to: "0x", data: "0x", gas: "0x7a120" }, "latest"] };

describe("a question goes to the next endpoint", () => {
  test.each([
    ["does not answer", GONE],
    ["refuses it", said("header not found")],
    ["has no such method", said("no", -32_601)],
    ["gives no more at once", said("query returned more than 10000 results", -32_005)],
    ["grants too little gas of its own", said("out of gas")],
  ])("where one %s", async (_, answer) => {
    const second = member("0x7");
    const rpc = join(member(answer), second);
    expect(await rpc.call(FREE.method, FREE.params)).toBe("0x7");
    expect(await rpc.batch([FREE, FREE])).toEqual(["0x7", "0x7"]);
  });

  test.each([
    ["reverts", said("execution reverted", 3)],
    ["uses up the gas that the call grants", said("out of gas")],
  ])("and not where the call %s: every endpoint would say so", async (_, answer) => {
    const second = member("0x7");
    const rpc = join(member(answer), second);
    await expect(rpc.call(BOUND.method, BOUND.params)).rejects.toBe(answer);
    expect(await rpc.batch([BOUND])).toEqual([answer]);
    expect(second.asked).toEqual([]);
  });
});

test("those that are well are asked first, and where none answers the first one's word counts", async () => {
  const [resting, well] = [member(said("no"), 3), member(GONE)];
  await expect(join(resting, well).call("eth_chainId", [])).rejects.toBe(GONE);
  expect([resting.asked, well.asked]).toEqual([["eth_chainId"], ["eth_chainId"]]);
});

test("of a batch that no endpoint answers whole, what the first one answered is kept", async () => {
  const refusal = said("header not found");
  const rpc = join(member(refusal), member(GONE));
  expect(await rpc.batch([FREE, FREE])).toEqual([refusal, refusal]);
});

test("nobody else is asked once nobody waits for the answer", async () => {
  const second = member("0x7");
  const rpc = join(member(GONE), second);
  await expect(rpc.call("eth_chainId", [], AbortSignal.abort())).rejects.toBe(GONE);
  expect(second.asked).toEqual([]);
});

test("an endpoint that cannot be proved is passed over", async () => {
  const [first, second] = [member("0x1"), member("0x7")];
  const prove = async (one: Member): Promise<void> => {
    if (one === first) throw GONE;
  };
  expect(await joinRpcs([first, second], { host: () => "node", prove }).call("eth_chainId", [])).toBe("0x7");
  expect(first.asked).toEqual([]);
});

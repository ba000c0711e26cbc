import { describe, expect, it } from "vitest";
import { loaded, MAIN, problemsOf } from "./project.ts";

const submitOf = (change: (main: string) => string) => loaded({ "main.yaml": change(MAIN) }).network.submit;
const onEthereum = (main: string) =>
  main.replace("name: base", "name: ethereum").replaceAll(/(USDC|WETH): { address: "0x\w+"/g, "$1: { address: preset");
const named = (submit: string) => (main: string) => onEthereum(main).replace("rpc: [", `submit: ${submit}, rpc: [`);

describe("where transactions are sent", () => {
  it("is the book's relays where it has some and nothing is said", () => {
    const submit = submitOf(onEthereum);
    expect(submit.kind === "book" && submit.relays.map(({ name }) => name)).toEqual([
      "Flashbots Protect",
      "MEV Blocker",
    ]);
  });

  it("is the RPC endpoints where the book has no relay, and where that is said", () => {
    expect(submitOf((main) => main)).toEqual({ kind: "public" });
    expect(submitOf(named("public"))).toEqual({ kind: "public" });
  });

  it("falls back to everybody only where that is said, and where something is private", () => {
    const fallback = "fallback: { publicAfterBlocks: 25, slippage: 20bps }, rpc: [";
    const said = (main: string) => main.replace("rpc: [", fallback);
    const fallbackOf = (main: string) => loaded({ "main.yaml": main }).network.fallback;
    expect(fallbackOf(onEthereum(MAIN))).toBeUndefined();
    expect(fallbackOf(said(onEthereum(MAIN)))).toEqual({ afterBlocks: 25, slippage: 2_000n });
    expect(problemsOf({ "main.yaml": said(named("public")(MAIN)) })).toMatchObject([
      { path: "network.fallback", message: expect.stringContaining("everything is sent publicly") },
    ]);
    expect(problemsOf({ "main.yaml": said(MAIN) })).toMatchObject([
      { path: "network.fallback", message: expect.stringContaining("no private endpoints") },
    ]);
    const loose = said(onEthereum(MAIN)).replace("20bps", "1%");
    const problems = problemsOf({ "main.yaml": loose });
    expect(problems).toMatchObject([{ path: "network.fallback.slippage" }]);
    expect(JSON.stringify(problems)).toContain("at most 0.5%");
  });

  it.each([
    "https://relay.example/v1/k3y-of-mine",
    "https://relay.example?key=k3y-of-mine",
    "ws://k3y-of-mine",
    "k3y-of-mine",
    "k3y-of-mine.relay.example",
  ])("shows nothing of a wrong endpoint, which may be a key: %s", (url) => {
    const problems = problemsOf({ "main.yaml": named(`[{ url: "${url}" }]`)(MAIN) });
    expect(problems).toMatchObject([{ path: "network.submit.0.url" }]);
    expect(JSON.stringify(problems)).not.toContain("k3y-of-mine");
  });

  it("is what is named: by reference, as a host, or as a relay of the book with its whole address", () => {
    const url = "https://rpc.mevblocker.io/noreverts";
    const submit = submitOf(named(`[{ env: RELAY }, { url: "https://relay.example" }, { url: "${url}" }]`));
    expect(submit).toEqual({ kind: "named", endpoints: [{ env: "RELAY" }, { url: "https://relay.example" }, { url }] });
  });
});

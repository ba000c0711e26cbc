import { existsSync } from "node:fs";
import { getAddress } from "ethers";
import { closest } from "../../config/closest.ts";
import { parseAddress } from "../../domain/money/address.ts";
import { NETWORKS } from "../../networks/book.ts";
import { isOrigin, pathIn, RPC_VARIABLE, readRpc, readWallet, WALLET_FILES } from "./answers.ts";
import { lookAtEndpoints } from "./look-at-chain.ts";
import { answerOf, type Question } from "./question.ts";
import { problemWith, type Session, type Verdict, withDraft } from "./session.ts";

export const network: Question = {
  asks: () => `network (${[...NETWORKS.keys()].join(", ")})`,
  explains: "The chain to trade on. One configuration is of one network; for another, use another folder (--dir).",
  fallback: ({ present }) => present?.answers.network ?? "base",
  judge: (session, answer) => {
    const names = [...NETWORKS.keys()];
    const found = NETWORKS.get(answer);
    const before = session.present?.answers.network;
    if (found === undefined) {
      const meant = closest(answer.toLowerCase(), names);
      const fix = meant === undefined ? "" : `did you mean ${meant}? `;
      return { problem: `the network ${JSON.stringify(answer)} is not built in: ${fix}there are ${names.join(", ")}` };
    }
    if (before !== undefined && before !== answer) {
      return { problem: `this folder is for ${before}: another network is another folder, named with --dir` };
    }
    const quotesOnly =
      found.noSettlement === undefined ? [] : [`on ${answer} nothing is signed: ${found.noSettlement}`];
    return { value: answer, says: quotesOnly };
  },
};

/** Where a URL that was typed is kept. */
const URL_FILE = "rpc.url";

export const rpc: Question = {
  asks: () => "RPC endpoint: env:NAME, file:PATH or a URL; two with a comma between are better",
  explains:
    "A node of the network, of a provider or your own. It needs eth_simulateV1 or debug_traceCall, and is asked at once.\n" +
    "Its URL is a secret: name the environment variable or the file that has it. A URL that you type is kept in rpc.url,\n" +
    "which you alone can read.",
  fallback: ({ present }) => present?.answers.rpc ?? `env:${RPC_VARIABLE}`,
  judge: async (session, answer) => {
    const references = readRpc(answer);
    if (references === undefined) {
      return {
        problem: `${JSON.stringify(shown(answer))} is no endpoint: write env:NAME, file:PATH or a URL that begins with http`,
      };
    }
    const [first, another] = references;
    const typed = first !== undefined && "url" in first && !isOrigin(first.url) ? first.url : undefined;
    if (typed !== undefined) {
      if (another !== undefined)
        return { problem: "a URL with a key is taken alone: write further ones to files, and name them" };
      session.secrets.set(URL_FILE, `${typed}\n`);
      session.runtime.redactor.add(typed);
    } else session.secrets.delete(URL_FILE);
    if (references.slice(1).some((one) => "url" in one && !isOrigin(one.url))) {
      return { problem: "a URL with a key is taken alone: write further ones to files, and name them" };
    }
    return await judgeEndpoints(session, typed === undefined ? answer.trim() : `file:${URL_FILE}`);
  },
};

/** Of what may hold a key nothing is shown. */
function shown(answer: string): string {
  return answer.length > 40 || /[/?@]/.test(answer) ? "(not shown)" : answer;
}

async function judgeEndpoints(session: Session, answer: string): Promise<Verdict> {
  return await withDraft(session, { rpc: answer }, async (loaded, answers): Promise<Verdict> => {
    const problem = problemWith("rpc", answers, loaded);
    if (problem !== undefined) return { problem };
    if (session.isOffline || !loaded.ok) return { value: answer, says: [] };
    const says = await lookAtEndpoints(loaded.configuration, session.runtime);
    return "problem" in says ? says : { value: answer, says };
  });
}

export const wallet: Question = {
  asks: () => "wallet: new, keystore FILE, import FILE, or 0x... to watch an account without its key",
  explains:
    "A wallet that nothing else uses. new makes an encrypted keystore with a password of its own, import takes a file with\n" +
    "a private key or a mnemonic, keystore a file that you have (its password in a file beside it, .pass instead of .json).\n" +
    "An address is watched: nothing can be signed for it, which is enough for a look at what would be traded.",
  fallback: ({ present, folder }) =>
    present?.answers.wallet ??
    (existsSync(pathIn(folder, WALLET_FILES.keystore)) ? `keystore ${WALLET_FILES.keystore}` : "new"),
  judge: async (session, answer) => {
    const read = readWallet(answer);
    if (read === undefined) {
      return { problem: `${JSON.stringify(shown(answer))} is none of: new, keystore FILE, import FILE, an address` };
    }
    if (read.kind === "watch") return await judgeWatched(session, answer.trim());
    const file = read.kind === "import" ? read.keyFile : read.keystore;
    const path = pathIn(session.folder, file);
    const isThere = existsSync(path);
    if (read.kind === "keystore" && read.isNew && isThere) {
      return {
        problem: `${path} is there already and may be the only copy of a key: answer keystore ${file} to use it`,
      };
    }
    const isWanted = read.kind === "import" || !read.isNew;
    if (isWanted && !isThere) return { problem: `there is no file ${path}: name one that is there, or answer new` };
    return { value: answer.trim(), says: [] };
  },
};

async function judgeWatched(session: Session, answer: string): Promise<Verdict> {
  return await withDraft(session, { wallet: answer }, async (loaded, answers): Promise<Verdict> => {
    const problem = problemWith("wallet", answers, loaded);
    const address = parseAddress(answer);
    // A key that is missing is no complaint of an answer that is meant as an address.
    if (problem !== undefined) return { problem: problem.split("\n").at(-1) ?? problem };
    if (address === undefined)
      return { problem: `${JSON.stringify(answer)} is no address: 0x and 40 hexadecimal digits` };
    const isLive = session.present?.configuration.mode === "live";
    if (isLive)
      return { problem: "this configuration is live, and nothing can be signed for an account that is watched" };
    return {
      value: answer,
      says: [`${getAddress(address)} is watched on ${answerOf(session, "network")}: nothing is signed for it`],
    };
  });
}

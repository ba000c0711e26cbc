import { closest } from "../../config/closest.ts";
import { NETWORKS } from "../../networks/book.ts";
import { unsettled } from "../unsettled.ts";
import { isOrigin, RPC_VARIABLE, readRpc } from "./answers.ts";
import { lookAtEndpoints } from "./look-at-chain.ts";
import type { Question } from "./question.ts";
import { problemWith, type Session, type Verdict, withDraft } from "./session.ts";

/** Networks of the book on which a first configuration can trade. */
const TRADED = [...NETWORKS].flatMap(([name, { noSettlement }]) => (noSettlement === undefined ? [name] : []));

export const network: Question = {
  asks: () => `network (${TRADED.join(", ")})`,
  explains: "The chain to trade on. One configuration is of one network; for another, use another folder (--dir).",
  fallback: ({ present }) => present?.answers.network ?? "base",
  judge: (session, answer) => {
    const found = NETWORKS.get(answer);
    const before = session.present?.answers.network;
    if (found === undefined) {
      const meant = closest(answer.toLowerCase(), TRADED);
      const fix = meant === undefined ? "" : `did you mean ${meant}? `;
      return { problem: `the network ${JSON.stringify(answer)} is not built in: ${fix}there are ${TRADED.join(", ")}` };
    }
    if (before !== undefined && before !== answer) {
      return { problem: `this folder is for ${before}: another network is another folder, named with --dir` };
    }
    // A file that was written by hand may go by a service elsewhere.
    if (found.noSettlement === undefined || before !== undefined) return { value: answer, says: [] };
    return { problem: unsettled(answer, found.noSettlement) };
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
export function shown(answer: string): string {
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

import { expect } from "vitest";
import type { Swap } from "../../src/domain/run/run.ts";
import { isFilled, isLive, isRunEnd, isSwapEnd } from "../../src/domain/run/states.ts";
import type { ImaginedWorld, Taken } from "./imagined-world.ts";

type Money = "reserved" | "spent" | "released";

/** Checks every step of an imagined life against what must always be true. Remembers rows as the database would. */
export class RunInvariants {
  readonly states = new Map<string, string>([["run_1", "due"]]);
  readonly money = new Map<string, { state: Money; amount: bigint }>();
  memoryRows = 0;

  readonly check = (taken: Taken, world: ImaginedWorld): void => {
    this.replay(taken);
    this.account(taken);
    this.signsOnlyWhatIsCleared(taken);
    this.neverTwiceAtOnePlace(taken);
    this.endsOnlyByTheChain(taken);
    this.oneThingAtATime(world);
  };

  /** Every change of a state has its row, and the rows give the states. */
  private replay({ result }: Taken): void {
    for (const { subjectId, from, to } of result.transitions) {
      expect(from).toBe(this.states.get(subjectId));
      this.states.set(subjectId, to);
    }
    expect(this.states.get(result.run.id)).toBe(result.run.state);
    for (const swap of result.run.swaps) expect(this.states.get(swap.id)).toBe(swap.state);
  }

  /** Each reservation is spent or released at the swap's end, and at no other time. */
  private account({ before, result }: Taken): void {
    for (const record of result.records) {
      if (record.kind === "memory") this.memoryRows += 1;
      if (!("swapId" in record)) continue;
      const { swapId } = record;
      const known = this.money.get(swapId);
      if (record.kind === "reserve") {
        // What sells proceeds follows what is measured, until something may be signed for it.
        if (known !== undefined) {
          const swap = before.swaps.find(({ id }) => id === swapId);
          expect([known.state, swap?.planned.kind]).toEqual(["reserved", "proceeds"]);
          expect(["planned", "quoted"]).toContain(swap?.state);
        }
        this.money.set(swapId, { state: "reserved", amount: record.amount });
      } else if (record.kind === "spend") {
        expect(known?.state).toBe("reserved");
        this.money.set(swapId, { state: "spent", amount: record.amount });
      } else if (record.kind === "unspend") {
        expect(known?.state).toBe("spent");
        this.money.set(swapId, { state: "reserved", amount: record.amount });
      } else if (record.kind === "release" && known !== undefined) {
        expect(known.state).not.toBe("released");
        this.money.set(swapId, { ...known, state: "released" });
      }
    }
    for (const swap of result.run.swaps) expect(this.money.get(swap.id)?.state, swap.state).toBe(moneyIn(swap));
    for (const swap of result.run.swaps) {
      const row = this.money.get(swap.id);
      if (row?.state === "reserved") expect(row.amount).toBe(swap.gross);
      if (row?.state === "spent") expect(row.amount).toBe(swap.fill?.sold);
    }
  }

  /** No signature without a cleared move, passed checks and the one capability, all in the same result. */
  private signsOnlyWhatIsCleared({ before, evidence, result }: Taken): void {
    const intended = result.records.flatMap((record) => {
      if (record.kind === "intend-signature") return [record.swapId];
      if (record.kind !== "transaction") return [];
      const { id, purpose } = record.request;
      return purpose === "swap" ? [id.slice(0, -".swap".length)] : [];
    });
    const asked = result.effects.flatMap(({ effect }) => (effect.kind === "SignGasless" ? [effect.swapId] : []));
    for (const swapId of new Set([...intended, ...asked])) {
      expect(before.swaps.find((swap) => swap.id === swapId)?.state).toBe("quoted");
      expect(result.transitions).toContainEqual(expect.objectContaining({ subjectId: swapId, to: "cleared" }));
      expect(result.records).toContainEqual(expect.objectContaining({ kind: "open-capability", swapId }));
      expect(result.records).toContainEqual(expect.objectContaining({ kind: "checks", swapId }));
      expect(evidence.live && evidence.signingBarred === undefined).toBe(true);
      this.sellsOnlyWhatItHas(before.swaps, swapId);
    }
    for (const { subjectId, to } of result.transitions) {
      if (to === "signed") this.sellsOnlyWhatItHas(before.swaps, subjectId);
    }
    for (const record of result.records) {
      if (record.kind === "transaction") expect(evidence.live && evidence.signingBarred === undefined).toBe(true);
      if (record.kind === "checks" && (intended.length > 0 || result.records.some(isTransaction))) {
        expect(record.checks.length).toBeGreaterThan(0);
        expect(record.checks.filter((check) => !check.ok)).toEqual([]);
      }
    }
  }

  /** What is sized by other swaps' proceeds is signed for no more than these have brought, and are not about to lose. */
  private sellsOnlyWhatItHas(swaps: readonly Swap[], swapId: string): void {
    const { planned, gross } = swaps.find(({ id }) => id === swapId) ?? {};
    if (planned?.kind !== "proceeds") return;
    const sources = swaps.filter(({ position }) => planned.of.includes(position));
    expect(sources.filter(({ state }) => isLive(state) && !isFilled(state))).toEqual([]);
    const brought = sources.reduce((sum, { state, fill }) => sum + (isFilled(state) ? (fill?.bought ?? 0n) : 0n), 0n);
    expect(gross ?? 0n).toBeLessThanOrEqual(planned.base + brought);
  }

  /** After a swap was signed, nothing new is begun at its place until it has ended unfilled. */
  private neverTwiceAtOnePlace({ result }: Taken): void {
    const { swaps } = result.run;
    for (const swap of swaps) {
      const others = swaps.filter((other) => other.position === swap.position && other.attempt < swap.attempt);
      for (const other of others) expect(isSwapEnd(other.state) && !isFilled(other.state), other.state).toBe(true);
      const isFallback = swap.fallback !== undefined;
      expect(others.every(({ state }) => state === "skipped" || (isFallback && state === "cancelled"))).toBe(true);
    }
    for (const { effect } of result.effects) {
      if (effect.kind !== "FetchQuote") continue;
      const asked = swaps.find((swap) => swap.id === effect.swapId);
      const rivals = swaps.filter((swap) => swap.position === asked?.position);
      expect(rivals.some((swap) => isLive(swap.state) || isFilled(swap.state))).toBe(false);
    }
  }

  /** Expired and cancelled come from a finalised block that proves them, reverted from the lane's final report. */
  private endsOnlyByTheChain({ before, event, evidence, result }: Taken): void {
    for (const { subject, subjectId, from, to } of result.transitions) {
      if (subject !== "swap" || from === undefined) continue;
      if (["skipped", "denied"].includes(to)) expect(isLive(from as Swap["state"])).toBe(false);
      if (!["expired", "cancelled", "reverted"].includes(to)) continue;
      const swap = before.swaps.find((candidate) => candidate.id === subjectId);
      if (event.kind === "transaction") {
        expect(event.change.kind).toBe("final");
        continue;
      }
      if (event.kind !== "observed") throw new Error(`${to} came from ${event.kind}`);
      const { observation } = event;
      expect(observation.fill).toBeUndefined();
      if (to === "cancelled") {
        expect(observation.nonceUsed).toBe(true);
        continue;
      }
      const { finalized, nonceUsed, allowance, serviceStatus } = observation;
      expect(finalized.timestampSeconds).toBeGreaterThan(swap?.terms?.deadlineSeconds ?? Number.POSITIVE_INFINITY);
      expect(finalized.timestampSeconds).toBeGreaterThan(swap?.signatures?.permitDeadlineSeconds ?? 0);
      if (evidence.service.signatureHasNonce) expect(nonceUsed).toBe(false);
      else expect([allowance, serviceStatus === "pending"]).toEqual([0n, false]);
    }
  }

  /** A swap is never asked about twice at the same time: an answer that comes late could not be distinguished from a fresh one. */
  private oneThingAtATime({ pending }: ImaginedWorld): void {
    const talks = pending.flatMap(({ effect }) =>
      effect.kind === "FetchRoute" ? [] : ["swapId" in effect ? effect.swapId : "view"],
    );
    expect(new Set(talks).size).toBe(talks.length);
  }

  /** What must hold once nothing is left to be done. */
  checkEnd(world: ImaginedWorld): void {
    const { run } = world;
    expect(isRunEnd(run.state), run.state).toBe(true);
    for (const swap of run.swaps) expect(isSwapEnd(swap.state), swap.state).toBe(true);
    for (const { state } of this.money.values()) expect(state).not.toBe("reserved");
    expect(world.capabilities.size).toBe(0);
    expect(this.memoryRows).toBe(run.swaps.length > 0 ? 2 : run.state === "skipped" && this.memoryRows === 0 ? 0 : 1);
    for (const swap of run.swaps) expect(swap.state === "final", swap.id).toBe(hasLanded(world, swap));
    const places = new Set(run.swaps.map((swap) => swap.position));
    const filled = run.swaps.filter((swap) => swap.state === "final");
    expect(new Set(filled.map((swap) => swap.position)).size).toBe(filled.length);
    if (run.swaps.length === 0) return;
    const expected = filled.length === places.size ? "filled" : filled.length > 0 ? "partial" : undefined;
    if (expected === undefined) expect(["skipped", "failed"]).toContain(run.state);
    else expect(run.state).toBe(expected);
  }
}

function isTransaction(record: { kind: string }): boolean {
  return record.kind === "transaction";
}

function moneyIn(swap: Swap): Money | undefined {
  if (isFilled(swap.state)) return "spent";
  if (swap.gross === undefined) return undefined;
  return isSwapEnd(swap.state) ? "released" : "reserved";
}

function hasLanded(world: ImaginedWorld, swap: Swap): boolean {
  if (swap.mode === "gasless") return world.handed.get(swap.id)?.landed !== undefined;
  return world.lane.landed().some((request) => request.id === `${swap.id}.swap`);
}

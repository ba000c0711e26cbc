import { oneContract } from "../../src/domain/guard/swap-contracts.ts";
import type { Hex } from "../../src/domain/money/address.ts";
import type { StepResult } from "../../src/domain/run/draft.ts";
import type { Effect, EffectRequest } from "../../src/domain/run/effects.ts";
import type { RunEvent } from "../../src/domain/run/events.ts";
import type { Evidence } from "../../src/domain/run/evidence.ts";
import type { Run, Swap } from "../../src/domain/run/run.ts";
import { swapOf } from "../../src/domain/run/run.ts";
import { step } from "../../src/domain/run/step.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { initialStrategyMemory } from "../../src/domain/strategy/strategy.ts";
import { evidenceSample, ledgerSample, NOW_MS, ROUTER, runSample, viewSample } from "./builders.ts";
import { imaginedAnswers } from "./imagined-answers.ts";
import { createImaginedLane, type ImaginedLane } from "./imagined-lane.ts";
import { byteHash } from "./reading-samples.ts";

/** What holds for one imagined life of a run. */
export interface Setting {
  readonly spec: StrategySpec;
  readonly live: boolean;
  readonly signatureHasNonce: boolean;
  /** the router may take every token already */
  readonly isApproved: boolean;
  readonly windowMs: number;
}

/** One step that was taken, with everything it was taken from. */
export interface Taken {
  readonly before: Run;
  readonly event: RunEvent;
  readonly evidence: Evidence;
  readonly result: StepResult;
}

/** What became of a gasless swap outside: whether the service has it, and the block that it stands in. */
export interface Handed {
  taken: boolean;
  landed: { readonly block: number; readonly hash: Hex } | undefined;
  cancelledIn: number | undefined;
}

/** Something that may happen next. */
export interface Choice {
  readonly name: string;
  happen(): void;
}

/**
 * A run in a world that is made up: services, chain and lane answer whatever the test chooses, but never anything that
 * they could not really answer. Blocks come once a second and are final ten blocks later.
 */
export class ImaginedWorld {
  readonly setting: Setting;
  readonly taken: Taken[] = [];
  readonly lane: ImaginedLane;
  readonly handed = new Map<string, Handed>();
  readonly capabilities = new Map<string, string>();
  pending: EffectRequest[] = [];
  nowMs = NOW_MS;
  run: Run;
  memory: unknown;
  isBarred = false;
  isBusyElsewhere = false;
  private readonly check: (taken: Taken, world: ImaginedWorld) => void;

  constructor(setting: Setting, check: (taken: Taken, world: ImaginedWorld) => void) {
    this.setting = setting;
    this.check = check;
    this.memory = initialStrategyMemory(setting.spec);
    this.lane = createImaginedLane(this);
    this.run = runSample({
      ...{ state: "due", strategyId: setting.spec.id },
      windowEndsMs: NOW_MS + setting.windowMs,
    });
  }

  get seconds(): number {
    return Math.floor(this.nowMs / 1_000);
  }

  get block(): number {
    return 100 + this.seconds - Math.floor(NOW_MS / 1_000);
  }

  get finalBlock(): number {
    return this.block - 10;
  }

  timestampOf(block: number): number {
    return Math.floor(NOW_MS / 1_000) + block - 100;
  }

  apply(event: RunEvent): StepResult {
    const evidence = this.evidence(event);
    const before = this.run;
    const result = step(before, event, evidence);
    this.run = result.run;
    this.pending.push(...result.effects);
    for (const record of result.records) {
      if (record.kind === "memory") this.memory = JSON.parse(record.memory);
      if (record.kind === "transaction") this.lane.submit(record.request);
      if (record.kind === "open-capability") this.capabilities.set(record.swapId, record.token);
      if (record.kind === "close-capability") this.capabilities.delete(record.swapId);
    }
    const taken = { before, event, evidence, result };
    this.taken.push(taken);
    this.check(taken, this);
    return result;
  }

  /** Performs a written-down effect with one of its possible answers. */
  answer(request: EffectRequest, event: RunEvent): void {
    this.pending = this.pending.filter((other) => other !== request);
    this.apply(event);
  }

  choices(): readonly Choice[] {
    const due = this.pending.filter((request) => request.notBeforeMs <= this.nowMs);
    const answers = due.flatMap((request) =>
      imaginedAnswers(this, request.effect).map(({ name, event, alongside }) => ({
        name: `${request.effect.kind}: ${name}`,
        happen: () => {
          alongside?.();
          this.answer(request, event);
        },
      })),
    );
    return [...answers, ...this.lane.choices(), ...this.chainChoices(), ...this.otherChoices()];
  }

  /** Lets everything go well until nothing is left to be done. @throws Error when it never ends */
  settle(): void {
    this.isBarred = false;
    this.isBusyElsewhere = false;
    for (let round = 0; round < 1_000; round += 1) {
      const next = this.choices().find(({ name }) => /: (well|nothing new)$/.test(name));
      if (next !== undefined) {
        next.happen();
        continue;
      }
      if (this.pending.length === 0 && this.lane.isIdle()) return;
      this.nowMs += 1_000;
    }
    const waiting = this.pending.map((request) => request.effect.kind).join(", ");
    throw new Error(`the run never ends: ${this.run.state}, waiting for ${waiting || "its lane"}`);
  }

  start(): void {
    this.apply({ kind: "started" });
  }

  view(): RunEvent {
    return { kind: "view-read", view: viewSample({ nowMs: this.nowMs }) };
  }

  swapOf(effect: Extract<Effect, { swapId: string }>): Swap {
    return swapOf(this.run, effect.swapId);
  }

  private evidence(event: RunEvent): Evidence {
    const isTokenBusy = event.kind === "facts-read" && this.isTokenBusy(swapOf(this.run, event.swapId));
    return evidenceSample({
      ...{ nowMs: this.nowMs, spec: this.setting.spec, memory: this.memory, live: this.setting.live },
      tradingBarred: undefined,
      signingBarred: this.isBarred ? "halted by ops: dry run" : undefined,
      service: { contracts: oneContract(ROUTER), signatureHasNonce: this.setting.signatureHasNonce },
      ledger: ledgerSample({ isTokenBusy }),
    });
  }

  private isTokenBusy({ id, sell }: Swap): boolean {
    return (
      this.isBusyElsewhere ||
      [...this.capabilities].some(([swapId, held]) => swapId !== id && held === sell.address) ||
      this.run.swaps.some((other) => {
        return other.id !== id && other.sell.address === sell.address && BUSY.has(other.state);
      })
    );
  }

  /** A handed-over swap may land until its deadline, and its block may vanish until it is final. */
  private chainChoices(): readonly Choice[] {
    return [...this.handed].flatMap(([swapId, handed]) => {
      const deadlineSeconds = swapOf(this.run, swapId).terms?.deadlineSeconds ?? 0;
      const isInTime = this.timestampOf(this.block) <= deadlineSeconds;
      const { landed } = handed;
      const isFree = landed === undefined && handed.cancelledIn === undefined;
      const canCancel = isFree && this.setting.signatureHasNonce;
      const canVanish = landed !== undefined && landed.block > this.finalBlock;
      const set = (change: Partial<Handed>) => (): void => void Object.assign(handed, change);
      const lands = set({ landed: { block: this.block, hash: byteHash(this.block) } });
      return [
        ...(isFree && isInTime && handed.taken ? [{ name: `${swapId} lands`, happen: lands }] : []),
        ...(canCancel ? [{ name: `${swapId} is cancelled`, happen: set({ cancelledIn: this.block }) }] : []),
        ...(canVanish ? [{ name: `${swapId} vanishes`, happen: set({ landed: undefined }) }] : []),
      ];
    });
  }

  private otherChoices(): readonly Choice[] {
    const become = (name: string, change: Partial<Pick<ImaginedWorld, "nowMs" | "isBarred" | "isBusyElsewhere">>) => ({
      name,
      happen: (): void => void Object.assign(this, change),
    });
    return [
      ...[1_000, 6_000, 30_000].map((ms) => become(`${ms} ms pass`, { nowMs: this.nowMs + ms })),
      become("signing is barred or allowed", { isBarred: !this.isBarred }),
      become("the token is busy or free", { isBusyElsewhere: !this.isBusyElsewhere }),
    ];
  }
}

const BUSY: ReadonlySet<string> = new Set(["cleared", "approving", "signed", "submitted", "mined", "unknown"]);

/**
 * What the double does wrong with a gasless swap:
 * - `lose-before`: the connection breaks and nothing was done
 * - `lose-after`: the swap is executed and the connection breaks
 * - `late`: accepted at once, executed only after the configured delay
 * - `report-error`: executed, but answered with a refusal
 * - `error-after-accept`: executed, but answered with a 500
 * - `none`: done properly
 */
export type Fault = "none" | "lose-before" | "lose-after" | "late" | "report-error" | "error-after-accept";

export const FAULTS: readonly Fault[] = [
  "none",
  "lose-before",
  "lose-after",
  "late",
  "report-error",
  "error-after-accept",
];

/** Decides the fault of each gasless swap that is submitted. */
export interface FaultPlan {
  /** Takes these faults in their order; afterwards, or from the start again when repeated, everything is done properly. */
  set(faults: readonly Fault[], options?: { repeat: boolean }): void;
  next(): Fault;
}

export function createFaultPlan(): FaultPlan {
  let planned: Fault[] = [];
  let repeat = false;
  return {
    set: (faults, options = { repeat: false }) => {
      planned = [...faults];
      repeat = options.repeat;
    },
    next: () => {
      const fault = planned.shift() ?? "none";
      if (repeat) planned.push(fault);
      return fault;
    },
  };
}

import { z } from "zod";
import { transitionEvent } from "./run-shapes.ts";
import { NAMED_SHAPES, pageOf, shape } from "./shape.ts";
import { modeRow, openAlert, SCOPES, waiting } from "./status-shapes.ts";
import { instant } from "./values.ts";

const strategyId = z.string().min(1).max(64);
const reason = z.string().max(200).optional().meta({ description: "why, for the record and for others" });

/** What can be asked of the daemon. */
export const action = z
  .discriminatedUnion("action", [
    shape("RunNow", "Runs a strategy now, in place of its next slot; `extra`: besides its schedule.", {
      action: z.literal("run"),
      strategy: strategyId,
      extra: z.boolean().optional(),
      reason,
    }),
    shape("SkipNext", "Passes over the next slot of a strategy.", {
      action: z.literal("skip"),
      strategy: strategyId,
      reason,
    }),
    shape("SetMode", "Sets the mode of everything, or of a strategy. `resume` also releases halted accounts.", {
      action: z.enum(["pause", "exits-only", "halt", "resume"]),
      strategy: strategyId.optional().meta({ description: "without it: everything" }),
      reason,
    }),
    shape("Answer", "Answers a run that waits for a person.", {
      action: z.enum(["approve", "refuse"]),
      run: z.string().min(1).max(64),
      reason,
    }),
  ])
  .register(NAMED_SHAPES, { id: "Action", description: "What is asked for." });

export const actionResult = shape("ActionResult", "An action and what came of it.", {
  id: z.int(),
  action: z.string(),
  target: z.string().meta({ description: "global, a strategy, a run, a transaction, or the token of an allowance" }),
  by: z.string(),
  at: instant,
  reason: z.string().nullable(),
  state: z.enum(["done", "refused", "waiting"]).meta({ description: "waiting: the daemon has not answered yet" }),
  answer: z.string().nullable(),
});

export const actionPage = pageOf("ActionPage", "What people asked for, newest first.", actionResult);

export const session = shape("Session", "Who asks.", {
  apiVersion: z.literal("1"),
  version: z.string(),
  name: z.string().nullable().meta({ description: "null: not logged in" }),
  scope: z.enum(SCOPES).nullable(),
  until: instant.nullable().meta({ description: "when the login ends; null of a token" }),
  key: z.string().nullable().meta({
    description: "told once, to who logs in: with the cookie, an action needs it in the header `swapd-page-key`",
  }),
});

export const login = shape("Login", "A one-time code, as `swapd login` prints it.", { code: z.string().max(100) });

/** The events of `/api/v1/events`, by name. */
export const EVENTS = {
  transition: transitionEvent,
  alerts: shape(
    "AlertsEvent",
    "Alerts that are open now, critical ones first, at most a hundred; sent at the begin and after each change of these.",
    {
      alerts: z.array(openAlert),
    },
  ),
  modes: shape("ModesEvent", "All modes that are not active, and runs that wait; at the begin and after each change.", {
    modes: z.array(modeRow),
    waiting: z.array(waiting),
  }),
  reset: shape("ResetEvent", "What came before cannot be resumed: read everything anew.", { reason: z.string() }),
} as const;

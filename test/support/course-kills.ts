import fc from "fast-check";
import { expect } from "vitest";
import { COURSES, type Course, type Hear } from "./courses.ts";
import { type Life, type Outside, openLife } from "./engine-life.ts";

/** Asked at each place that a life passes whether it ends there. */
export type KillAt = (label: string, life: Life) => boolean;

/** A fresh world on a course, with one strategy. */
export interface CourseWorld {
  readonly outside: Outside;
  /** Lives on the file until everything is over, or until it is killed. */
  liveOn(killAt?: KillAt): Promise<Life>;
  /** Checks rows and chain against what must be true once everything is over. */
  expectEnd(life: Life, what: string): void;
}

/** Opens a life on the file of a course's world, without starting it. */
export function openCourseLife(outside: Outside, hear: Hear, killAt: KillAt = () => false): Life {
  // A daemon whose chain does not answer refuses to start, so it is started once that does.
  outside.chain.isDown = false;
  const life: Life = openLife(outside, {
    killAt: (label) => {
      hear(label, life);
      return killAt(label, life);
    },
  });
  return life;
}

/** The place that a life passes after so many others. */
export interface Place {
  readonly index: number;
  readonly label: string;
}

/**
 * Lives a course without a kill, and names the places to be killed at: of the course's own, each label at its first
 * passing, and every passing with something written down, signed or submitted since the last one. Two places with
 * nothing in between leave the same to the next life.
 */
export async function placesOf(course: Course, world: CourseWorld): Promise<readonly Place[]> {
  const places: Place[] = [];
  const known = new Set<string>();
  let index = -1;
  let hasBegun = course.from === undefined;
  const life = await world.liveOn((label, { db }) => {
    index += 1;
    hasBegun ||= label === course.from;
    if (!hasBegun || !course.labels.includes(label)) return false;
    const { chain, service, signed } = world.outside;
    const moves = db.prepare<[], number>(MOVES).pluck().get();
    const state = [moves, signed.length, chain.sent.length, service.submissions.length].join(" ");
    if (!known.has(label) || !known.has(state)) places.push({ index, label });
    known.add(label).add(state);
    return false;
  });
  world.expectEnd(life, "not killed");
  life.db.close();
  return places;
}

const MOVES =
  "SELECT (SELECT count(*) FROM transitions) + (SELECT count(*) FROM lane_transitions) + (SELECT count(*) FROM lane_signings)";

/** Kills a life at each of the places, in a world of its own, and lets the next life come to the end. */
export async function killAtEach(places: readonly Place[], open: () => CourseWorld): Promise<void> {
  for (const { index, label } of places) {
    const what = `killed at place ${index}: ${label}`;
    const world = open();
    const killed = await world.liveOn((_label, { passed }) => passed.length === index + 1);
    expect([killed.isDead(), killed.passed.at(-1)], what).toEqual([true, label]);
    killed.db.close();
    const last = await world.liveOn();
    world.expectEnd(last, what);
    last.db.close();
  }
}

/** The labels of all places that the courses are killed at. */
export async function labelsKilledAt(open: (course: Course) => CourseWorld): Promise<ReadonlySet<string>> {
  const labels = new Set<string>();
  for (const course of COURSES) for (const { label } of await placesOf(course, open(course))) labels.add(label);
  return labels;
}

/** Kills a life again and again while it recovers, where chance chooses, on courses that chance chooses. */
export async function killAgainAndAgain(numRuns: number, open: (course: Course) => CourseWorld): Promise<void> {
  const kills = fc.array(fc.nat(20), { minLength: 2, maxLength: 8 });
  let struck = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...COURSES), kills, async (course, after) => {
      const world = open(course);
      for (const places of after) {
        const killed = await world.liveOn((_label, { passed }) => passed.length === places + 1);
        if (killed.isDead()) struck += 1;
        killed.db.close();
      }
      const last = await world.liveOn();
      world.expectEnd(last, `${course.name}, killed after ${after} places`);
      last.db.close();
    }),
    { numRuns },
  );
  expect(struck).toBeGreaterThan(0);
}

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Reading } from "../resource.ts";

interface CardProps {
  readonly title: string;
  /** beside the title: buttons, a range */
  readonly aside?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Card({ title, aside, class: name = "", children }: CardProps) {
  const id = useId();
  return (
    <section class={`card ${name}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** What stands where there is nothing to show: why, and what brings something here. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

interface TroubleProps {
  readonly reading: Pick<Reading<unknown>, "value" | "trouble" | "again">;
  /** what was read, where that is but a part of what is shown there */
  readonly what?: string;
}

/** Why something cannot be read, or not anew; nothing where it can. */
export function Trouble({ reading, what = "This" }: TroubleProps) {
  const { value, trouble, again } = reading;
  if (trouble === undefined) return null;
  return (
    <p class="trouble" role="alert">
      {value === undefined ? `${what} cannot be shown` : `${what} may be old`}: {trouble}{" "}
      <button type="button" class="plain" onClick={again}>
        Try again
      </button>
    </p>
  );
}

interface LoadedProps<T> {
  readonly reading: Reading<T>;
  readonly children: (value: T) => ComponentChildren;
}

/** What was read; what is older stays in sight while it cannot be read anew, and says so. */
export function Loaded<T>({ reading, children }: LoadedProps<T>) {
  const { value, trouble } = reading;
  return (
    <>
      <Trouble reading={reading} />
      {value !== undefined ? children(value) : trouble === undefined && <p class="empty">Loading…</p>}
    </>
  );
}

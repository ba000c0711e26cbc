import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { visibleRows } from "../model/visible-rows.ts";

interface VirtualListProps<T> {
  readonly label: string;
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  readonly row: (item: T) => ComponentChildren;
  /** asked for when the end comes into sight */
  readonly more?: () => void;
}

const NARROW_PX = 640;
const ROW = { wide: 44, narrow: 76 } as const;

/** A list of which only what is seen stands in the document, however long it is. */
export function VirtualList<T>({ label, items, keyOf, row, more }: VirtualListProps<T>) {
  const place = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600, rowHeight: ROW.wide as number });
  const look = (): void => {
    const element = place.current;
    if (element === null) return;
    const rowHeight = element.clientWidth < NARROW_PX ? ROW.narrow : ROW.wide;
    setView({ top: element.scrollTop, height: element.clientHeight, rowHeight });
  };
  useEffect(() => {
    if (place.current === null) return;
    const watcher = new ResizeObserver(look);
    watcher.observe(place.current);
    return () => watcher.disconnect();
  }, []);
  const { first, end } = visibleRows({ count: items.length, ...view });
  const isAtEnd = end >= items.length;
  useEffect(() => {
    if (isAtEnd) more?.();
  }, [isAtEnd, items.length, more]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by the keyboard
    <section class="long" aria-label={label} tabIndex={0} ref={place} onScroll={look}>
      <ul style={{ height: `${items.length * view.rowHeight}px` }}>
        {items.slice(first, end).map((item, place) => (
          <li
            key={keyOf(item)}
            aria-setsize={items.length}
            aria-posinset={first + place + 1}
            style={{ height: `${view.rowHeight}px`, top: `${(first + place) * view.rowHeight}px` }}
          >
            {row(item)}
          </li>
        ))}
      </ul>
    </section>
  );
}

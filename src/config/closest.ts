/** The candidate that is closest to a mistyped word; undefined when none is close enough to be meant. */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(fold(word), fold(candidate));
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate;
}

function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[_-]/g, "").slice(0, 64);
}

/** Edits of one letter (insert, delete, replace, swap neighbours) from one word to the other. */
function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) cost = Math.min(cost, (beforePrevious[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[to.length] ?? 0;
}

/** A suggestion for a mistyped word: the name that was meant, or else what can be said without one. */
export function didYouMean(word: string, names: Iterable<string>, otherwise: string): string {
  const meant = closest(word, names);
  return meant === undefined ? otherwise : `did you mean "${meant}"?`;
}

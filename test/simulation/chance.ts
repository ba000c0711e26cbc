/** Draws that depend on nothing but a seed and the words of what is drawn: other draws do not move them. */
export interface Chance {
  readonly seed: number;
  /** a number in [0, 1) */
  of(...words: readonly (string | number)[]): number;
  /** a whole number from `least` up to `most` */
  between(least: number, most: number, ...words: readonly (string | number)[]): number;
  pick<T>(list: readonly T[], ...words: readonly (string | number)[]): T;
}

export function createChance(seed: number): Chance {
  const of = (...words: readonly (string | number)[]): number => hashOf(`${seed}|${words.join("|")}`) / 2 ** 32;
  return {
    seed,
    of,
    between: (least, most, ...words) => least + Math.floor(of(...words) * (most - least + 1)),
    pick: (list, ...words) => {
      const picked = list[Math.floor(of(...words) * list.length)];
      if (picked === undefined) throw new Error("nothing to pick from");
      return picked;
    },
  };
}

/** FNV-1a over the text, mixed at the end so that texts that differ in their last letter differ in all bits. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

import { z } from "zod";

/** All shapes that have a name of their own in the API's document. */
export const NAMED_SHAPES = z.registry<{ readonly id: string; readonly description: string }>();

/** An object of the API with exactly these keys, under its name. */
export function shape<T extends z.ZodRawShape>(id: string, description: string, keys: T) {
  return z.strictObject(keys).register(NAMED_SHAPES, { id, description });
}

/** A page of a list, newest first: `next` is the cursor of the page after it, null on the last one. */
export function pageOf<T extends z.ZodType>(id: string, description: string, item: T) {
  return shape(id, description, { items: z.array(item), next: z.string().nullable() });
}

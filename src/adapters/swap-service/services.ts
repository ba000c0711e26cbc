import type { ServiceBook } from "../../domain/guard/service-promises.ts";
import { fly } from "./fly/service.ts";
import { publicRouters } from "./public-routers/service.ts";
import type { SwapServiceKind } from "./service-kind.ts";
import { swapd } from "./swapd/service.ts";

/** Every swap service there is, by the name of its profile. A new one is a line here, and what docs/WRITING-A-SERVICE.md says. */
const SERVICES: Readonly<Record<string, SwapServiceKind>> = {
  swapd,
  "public-routers": publicRouters,
  fly,
};

/** What each of them promises, by the name of its profile. */
export const SERVICE_BOOK: ServiceBook = new Map(
  Object.entries(SERVICES).map(([name, { profile }]) => [name, profile]),
);

/** @throws Error when there is none of this name; a configuration that was loaded names one that is there */
export function serviceKind(name: string): SwapServiceKind {
  const kind = Object.hasOwn(SERVICES, name) ? SERVICES[name] : undefined;
  if (kind === undefined) throw new Error(`there is no swap service ${JSON.stringify(name)}`);
  return kind;
}

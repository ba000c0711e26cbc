import type { ServiceProfile } from "../../ports/swap-service.ts";
import { flyProfile } from "./fly/profile.ts";
import { swapdProfile } from "./swapd/profile.ts";

/** The profiles that ship, by the name that the configuration uses. */
export const SERVICE_PROFILES: Readonly<Record<ServiceProfile["name"], ServiceProfile>> = {
  swapd: swapdProfile,
  fly: flyProfile,
};

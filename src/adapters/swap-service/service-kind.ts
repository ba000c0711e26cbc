import type { Secret } from "../../net/secret.ts";
import type { ServiceProfile, SwapService } from "../../ports/swap-service.ts";
import type { ServiceCallDependencies } from "./service-calls.ts";

/** Where one service is, on which network it is asked, and within which bounds. */
export interface ServiceOptions {
  readonly baseUrl: string;
  /** the network's name, as our own service calls it */
  readonly network: string;
  readonly chainId: number;
  readonly apiKey?: Secret | undefined;
  /** for one answer, body included */
  readonly timeoutMs: number;
  /** of one answer */
  readonly maxBytes: number;
  /** repetitions of reads; else a few */
  readonly retries?: number;
  /** gives up what is under way, at the end of the program */
  readonly signal?: AbortSignal | undefined;
}

/** A kind of swap service: what its folder gives. */
export interface SwapServiceKind {
  /** what it promises, and how its orders, its calldata and its fills are read */
  readonly profile: ServiceProfile;
  /** Creates its client. */
  open(options: ServiceOptions, dependencies: ServiceCallDependencies): SwapService;
}

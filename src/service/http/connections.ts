import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../ports/clock.ts";
import { callerOf, networksOf } from "../limits/caller-address.ts";
import { createFixedWindows } from "../limits/fixed-windows.ts";

/** The connections of the interface, so many in all and so many of an address. */
export interface Connections {
  /** Bounds what connects to a server: call it before the server listens. */
  bound(server: Server): void;
  /** The same listener, for as many requests of a connection at once as honest clients send. */
  guard(listener: RequestListener): RequestListener;
  /**
   * Cuts the connection of a caller that goes on far beyond its limit.
   * @returns false for a trusted proxy's, which carries other callers too: it stays
   */
  cut(socket: Socket): boolean;
}

export interface ConnectionLimits {
  /** all of them */
  readonly total: number;
  /** of one address, IPv6 by its first 64 bits */
  readonly perAddress: number;
  /** new ones of an address in a second */
  readonly newPerSecond: number;
}

const CONNECTION_LIMITS: ConnectionLimits = { total: 4_096, perAddress: 256, newPerSecond: 256 };

/** Requests of a connection that may be unanswered at once: clients in use send one after the other's answer. */
const MAX_UNANSWERED = 16;

/** A piece of what arrived: few requests fit into it, so that those which come after a cut cost nothing. */
const PIECE_BYTES = 1_024;

/** Connections of an address that were cut in a second, after which nothing is read of further ones of that second. */
const MAX_CUT_PER_SECOND = 8;

/**
 * So long nothing is read of a connection before it is closed: a client that loses one opens the next as soon as it
 * can.
 */
const HOLD_MS = 1_000;

/** @param trustedProxies addresses and networks whose connections carry many callers: only the total holds for them */
export function createConnections(
  { clock, trustedProxies }: { clock: Clock; trustedProxies: readonly string[] },
  limits: ConnectionLimits = CONNECTION_LIMITS,
): Connections {
  const isProxy = networksOf(trustedProxies);
  const open = new Map<string, number>();
  const takeNew = createFixedWindows(clock);
  const takeCut = createFixedWindows(clock);
  const held = new WeakSet<Socket>();

  /** undefined: of no single caller, or a proxy's */
  function addressOf({ remoteAddress }: Socket): string | undefined {
    return remoteAddress === undefined || isProxy(remoteAddress) ? undefined : callerOf(remoteAddress);
  }

  function admit(socket: Socket): void {
    const address = addressOf(socket);
    if (address === undefined) return;
    const count = open.get(address) ?? 0;
    if (count >= limits.perAddress || !takeNew(address, limits.newPerSecond).allowed) {
      socket.destroy();
      return;
    }
    if (!takeCut(address, MAX_CUT_PER_SECOND, 0).allowed) hold(socket);
    open.set(address, count + 1);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
  }

  function hold(socket: Socket): void {
    held.add(socket);
    // The server resumes a new connection in the tick after this one, and would undo a pause of this one.
    process.nextTick(() => socket.pause());
    setTimeout(() => socket.destroy(), HOLD_MS).unref();
  }

  function drop(socket: Socket): void {
    if (held.has(socket)) return;
    const address = addressOf(socket);
    if (address !== undefined) takeCut(address, MAX_CUT_PER_SECOND);
    held.add(socket);
    socket.destroy();
  }

  return {
    cut(socket) {
      const { remoteAddress } = socket;
      if (remoteAddress !== undefined && isProxy(remoteAddress)) return false;
      drop(socket);
      return true;
    },
    bound(server) {
      server.maxConnections = limits.total;
      server.on("connection", (socket) => readInPieces(socket, held));
      server.on("connection", admit);
    },
    guard: (listener) => guarded(listener, { held, drop }),
  };
}

/**
 * Gives the server what arrives in small pieces, and nothing more of a connection that was cut. Of what arrived in one
 * piece it would parse all requests, 1,700 in 64 KiB, and abort each: a tenth of a second without any answer.
 */
function readInPieces(socket: Socket, held: { has(socket: Socket): boolean }): void {
  const parsers = socket.listeners("data");
  socket.removeAllListeners("data");
  socket.on("data", (chunk: Buffer) => {
    for (let start = 0; start < chunk.length && !held.has(socket); start += PIECE_BYTES) {
      const piece = chunk.subarray(start, start + PIECE_BYTES);
      for (const parse of parsers) parse.call(socket, piece);
    }
  });
}

function guarded(
  listener: RequestListener,
  { held, drop }: { held: { has(socket: Socket): boolean }; drop: (socket: Socket) => void },
): RequestListener {
  const unanswered = new WeakMap<Socket, number>();
  return (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    // What arrived in one piece with the requests before it is parsed although the connection is cut.
    if (held.has(socket)) return;
    const count = (unanswered.get(socket) ?? 0) + 1;
    if (count > MAX_UNANSWERED) {
      drop(socket);
      return;
    }
    unanswered.set(socket, count);
    response.once("close", () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    listener(request, response);
  };
}

import type { RpcError } from "./json-rpc.ts";
import { NODE_ERRORS, type NodeErrorClass, type NodeErrorRow } from "./node-error-table.ts";

/** What an HTTP error without a proper answer may still say of the endpoint itself; of the request it says nothing. */
const OF_ENDPOINT: ReadonlySet<NodeErrorClass> = new Set(["exhausted", "slow-down", "not-available"]);

/** The row of the table that an error's words, code or status belong to; undefined where none does. */
export function rowOf({ code, event, status, nodeMessage = "" }: RpcError): NodeErrorRow | undefined {
  return NODE_ERRORS.find(
    ({ codes = [], events = [], statuses = [], words }) =>
      (code !== undefined && codes.includes(code)) ||
      (event !== undefined && events.includes(event)) ||
      (status !== undefined && statuses.includes(status)) ||
      words?.test(nodeMessage) === true,
  );
}

/** What the error means for a read, by the table. */
export function classOf(error: RpcError): NodeErrorClass {
  const found = rowOf(error)?.read;
  if (error.kind === "rpc") return found ?? "refused";
  const { status } = error;
  const isRefusal = status !== undefined && status >= 400 && status < 500;
  if (isRefusal && found !== undefined && OF_ENDPOINT.has(found)) return found;
  return status === 413 || error.isTooLarge ? "too-much" : "no-answer";
}

/** Whether the contract that was called refused or broke: the only error that every node would give. */
export function isRevert(error: RpcError): boolean {
  return classOf(error) === "reverted";
}

/** Whether a call that travelled alone failed by its own doing: it reverted, or used up what it was given. */
export function isFailedCall(error: RpcError): boolean {
  return error.kind === "rpc" && rowOf(error)?.call === "failed";
}

/** Whether less at once may do where this did not. */
export function isTooMuch(error: RpcError): boolean {
  const kind = classOf(error);
  return kind === "out-of-gas" || kind === "too-much";
}

/** Whether the same read may be answered by the same endpoint in a moment: a revert stays one, and so does a used-up plan. */
export function mayPassSoon(error: RpcError): boolean {
  const kind = classOf(error);
  return kind !== "reverted" && kind !== "exhausted";
}

/** Whether the endpoint refuses requests for their number, whatever they are: that says nothing of what it can do. */
export function isHeldBack(error: RpcError): boolean {
  const kind = classOf(error);
  return kind === "exhausted" || kind === "slow-down";
}

/** Whether the endpoint has nothing of the block that was asked for: it lags, or the block was replaced. */
export function lacksBlock(error: RpcError): boolean {
  return classOf(error) === "no-block";
}

/** Whether the error is of the call, by what it does or by its size: it says nothing against the endpoint. */
export function isOfCall(error: RpcError): boolean {
  return isFailedCall(error) || isTooMuch(error);
}

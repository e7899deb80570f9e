/**
 * What a message's type adds, read from its metadata. The server wrote it, an agent may have filled it: a shape that
 * is not what the type promises yields `undefined`, and the message is shown by its text.
 */
import type { Clarification } from "~/wire/generated/Clarification";
import type { Message } from "~/wire/generated/Message";
import type { PermissionRequest } from "~/wire/generated/PermissionRequest";
import type { Plan } from "~/wire/generated/Plan";
import type { ToolCall } from "~/wire/generated/ToolCall";

function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

export function toolCallOf(message: Message): ToolCall | undefined {
  return asToolCall(message.metadata);
}

function asToolCall(value: unknown): ToolCall | undefined {
  const held = record(value);
  if (typeof held?.title !== "string" || typeof held.kind !== "string") return undefined;
  return held as unknown as ToolCall;
}

export function planOf(message: Message): Plan | undefined {
  const held = record(message.metadata);
  return Array.isArray(held?.entries) ? (held as unknown as Plan) : undefined;
}

export function permissionOf(message: Message): PermissionRequest | undefined {
  const held = record(message.metadata);
  if (!Array.isArray(held?.options) || !asToolCall(held.tool_call)) return undefined;
  return held as unknown as PermissionRequest;
}

export function clarificationOf(message: Message): Clarification | undefined {
  const held = record(message.metadata);
  const question = record(held?.question);
  if (typeof question?.text !== "string" || !Array.isArray(question.options)) return undefined;
  const fits = question.options.every((option) => typeof record(option)?.label === "string");
  return fits ? (held as unknown as Clarification) : undefined;
}

/** An open request: missing and unknown statuses count as pending, so that no request is lost. */
export function isOpenRequest(message: Message): boolean {
  const isRequest = message.type === "permission_request" || message.type === "clarification_request";
  return isRequest && (message.status === undefined || message.status === "pending");
}

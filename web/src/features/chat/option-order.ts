import type { PermissionKind } from "~/wire/generated/PermissionKind";
import type { PermissionOption } from "~/wire/generated/PermissionOption";

const ORDER: readonly PermissionKind[] = ["allow_once", "allow_always", "reject_once", "reject_always"];

/** Options by what they mean, allow once first: agents send them in different orders. */
export function optionsByKind(options: readonly PermissionOption[]): PermissionOption[] {
  return [...options].sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
}

/** The option that allows this one time, if the agent offers one. */
export function allowOnce(options: readonly PermissionOption[]): PermissionOption | undefined {
  return options.find((option) => option.kind === "allow_once");
}

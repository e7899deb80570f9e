import type { ComponentProps, ReactNode } from "react";
import { Tooltip } from "./Tooltip";

interface IconButtonProps extends Omit<ComponentProps<"button">, "aria-label"> {
  /** What it does: the accessible name and the tooltip. */
  label: string;
  /** A key that does the same, shown in the tooltip. */
  keys?: string;
  children: ReactNode;
}

/** 44 px on a phone, 32 px elsewhere. */
export function IconButton({ label, keys, className = "", ...rest }: IconButtonProps) {
  return (
    <Tooltip text={label} {...(keys === undefined ? {} : { keys })}>
      <button
        type="button"
        aria-label={label}
        {...rest}
        className={`relative grid size-8 shrink-0 place-items-center rounded-lg text-muted transition-colors hover:bg-hover hover:text-text disabled:cursor-default disabled:opacity-40 max-sm:size-11 ${className}`}
      />
    </Tooltip>
  );
}

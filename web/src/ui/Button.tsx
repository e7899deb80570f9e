import type { ComponentProps, ReactNode } from "react";

const LOOK = {
  primary: "bg-accent text-on-accent hover:brightness-110 border-transparent",
  strong: "bg-text text-surface hover:opacity-85 border-transparent",
  plain: "bg-raised text-text border-line-strong hover:bg-hover",
  quiet: "text-muted border-transparent hover:bg-hover hover:text-text",
  danger: "bg-error text-surface border-transparent hover:brightness-110",
} as const;

const SIZE = {
  small: "h-7 px-2.5 text-[12.5px] max-sm:h-10",
  normal: "h-8 px-3 text-[13px] max-sm:h-11 max-sm:px-4 max-sm:text-[15px]",
} as const;

interface ButtonProps extends ComponentProps<"button"> {
  look?: keyof typeof LOOK;
  size?: keyof typeof SIZE;
  /** The work it started is under way: it stays where it is and cannot be pressed again. */
  busy?: boolean;
  children: ReactNode;
}

export function Button({ look = "plain", size = "normal", busy, className = "", ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      aria-busy={busy}
      disabled={busy || rest.disabled}
      {...rest}
      className={`inline-flex shrink-0 select-none items-center justify-center gap-1.5 whitespace-nowrap rounded-lg border font-medium transition-[background,filter,opacity] disabled:cursor-default disabled:opacity-50 ${LOOK[look]} ${SIZE[size]} ${className}`}
    />
  );
}

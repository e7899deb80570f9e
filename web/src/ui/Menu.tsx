import { Check, ChevronRight } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import type { ComponentProps, ReactNode } from "react";

const PANEL =
  "z-50 min-w-52 max-w-[min(92vw,22rem)] max-h-[min(70vh,var(--radix-dropdown-menu-content-available-height))] overflow-auto overscroll-contain rounded-xl bg-raised p-1 shadow-float animate-rise";
const ITEM =
  "flex min-h-8 max-sm:min-h-11 w-full cursor-pointer select-none items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-[13px] max-sm:text-[15px] outline-none data-[highlighted]:bg-hover data-[disabled]:cursor-default data-[disabled]:opacity-45";

interface MenuProps {
  trigger: ReactNode;
  children: ReactNode;
  align?: "start" | "center" | "end";
  side?: "top" | "bottom";
  open?: boolean;
  onOpenChange?(open: boolean): void;
  className?: string;
}

export function Menu({
  trigger,
  children,
  align = "start",
  side = "bottom",
  className = "",
  ...state
}: MenuProps) {
  // Not modal: a modal menu hides the page from readers while focus may still be in it.
  return (
    <Radix.Root modal={false} {...state}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          side={side}
          sideOffset={5}
          collisionPadding={8}
          className={`${PANEL} ${className}`}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface MenuItemProps extends ComponentProps<typeof Radix.Item> {
  icon?: ReactNode;
  hint?: ReactNode;
  danger?: boolean;
}

export function MenuItem({ icon, hint, danger, children, className = "", ...rest }: MenuItemProps) {
  return (
    <Radix.Item {...rest} className={`${ITEM} ${danger ? "text-error" : ""} ${className}`}>
      <span className="grid w-4 place-items-center text-muted">{icon}</span>
      <span className="min-w-0 flex-1">{children}</span>
      {hint && <span className="text-faint text-xs">{hint}</span>}
    </Radix.Item>
  );
}

interface MenuChoicesProps {
  value: string | undefined;
  onChange(value: string): void;
  choices: ReadonlyArray<{ id: string; name: string; description?: string | undefined }>;
}

/** One of several, with its check mark. */
export function MenuChoices({ value, onChange, choices }: MenuChoicesProps) {
  return (
    <Radix.RadioGroup {...(value === undefined ? {} : { value })} onValueChange={onChange}>
      {choices.map((choice) => (
        <Radix.RadioItem key={choice.id} value={choice.id} className={ITEM}>
          <span className="grid w-4 place-items-center text-accent">
            <Radix.ItemIndicator>
              <Check size={15} />
            </Radix.ItemIndicator>
          </span>
          <span className="min-w-0 flex-1">
            <span className="block truncate">{choice.name}</span>
            {choice.description && (
              <span className="line-clamp-2 text-muted text-xs">{choice.description}</span>
            )}
          </span>
        </Radix.RadioItem>
      ))}
    </Radix.RadioGroup>
  );
}

interface MenuCheckProps {
  checked: boolean;
  onChange(checked: boolean): void;
  children: ReactNode;
}

export function MenuCheck({ checked, onChange, children }: MenuCheckProps) {
  return (
    <Radix.CheckboxItem checked={checked} onCheckedChange={onChange} className={ITEM}>
      <span className="grid w-4 place-items-center text-accent">
        <Radix.ItemIndicator>
          <Check size={15} />
        </Radix.ItemIndicator>
      </span>
      <span className="min-w-0 flex-1">{children}</span>
    </Radix.CheckboxItem>
  );
}

export function MenuSub({ icon, label, children }: { icon?: ReactNode; label: string; children: ReactNode }) {
  return (
    <Radix.Sub>
      <Radix.SubTrigger className={ITEM}>
        <span className="grid w-4 place-items-center text-muted">{icon}</span>
        <span className="flex-1">{label}</span>
        <ChevronRight size={14} className="text-faint" />
      </Radix.SubTrigger>
      <Radix.Portal>
        <Radix.SubContent sideOffset={4} collisionPadding={8} className={PANEL}>
          {children}
        </Radix.SubContent>
      </Radix.Portal>
    </Radix.Sub>
  );
}

export function MenuHeading({ children }: { children: ReactNode }) {
  return <Radix.Label className="px-2.5 pt-2 pb-1 font-semibold text-faint text-xs">{children}</Radix.Label>;
}

export function MenuLine() {
  return <Radix.Separator className="mx-1 my-1 h-px bg-line" />;
}

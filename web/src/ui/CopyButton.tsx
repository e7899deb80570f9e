import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "./IconButton";

/** Long enough to be seen, short enough not to be in the way of a second copy. */
const CONFIRMED_MS = 1_600;

export function CopyButton({ text, label, className }: { text: string; label: string; className?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), CONFIRMED_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(true));
  return (
    <IconButton label={copied ? "Copied" : label} onClick={() => void copy()} className={className}>
      {copied ? <Check size={14} className="text-review" /> : <Copy size={14} />}
    </IconButton>
  );
}

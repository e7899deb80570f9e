const THOUSAND = 1_000;
const MILLION = 1_000_000;

/** `986`, `1.2k`, `14k`, `2.1M`. */
export function compact(value: number): string {
  if (value < THOUSAND) return String(value);
  const [unit, suffix] = value < MILLION ? [THOUSAND, "k"] : [MILLION, "M"];
  const scaled = value / unit;
  const shown = scaled < 10 ? Math.floor(scaled * 10) / 10 : Math.floor(scaled);
  return `${shown}${suffix}`;
}

/** `1 file`, `3 files`. */
export function counted(value: number, one: string, many: string = `${one}s`): string {
  return `${value.toLocaleString("en")} ${value === 1 ? one : many}`;
}

/** A file's size for people: `812 B`, `4.2 KB`, `10 MB`, in powers of 1,024. */
export function bytes(count: number): string {
  const units = ["B", "KB", "MB", "GB"];
  let size = count;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  const digits = unit > 0 && size < 10 ? 1 : 0;
  return `${size.toFixed(digits)} ${units[unit]}`;
}

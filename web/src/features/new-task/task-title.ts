/** As many characters as the server takes. */
export const TITLE_MAX = 200;

const LONGEST = 80;

/** A title for a task that was given only instructions: the first line, at a word's end. */
export function titleFrom(instructions: string): string {
  const line = instructions.trim().split("\n")[0]?.trim() ?? "";
  if (line.length <= LONGEST) return line;
  const cut = line.slice(0, LONGEST);
  const space = cut.lastIndexOf(" ");
  return `${cut.slice(0, space > LONGEST / 2 ? space : LONGEST)}…`;
}

/** Whether a key belongs to a field, a menu or a dialog rather than to the page. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest("input, textarea, select")) return true;
  return target.closest("[role=menu], [role=dialog], [role=listbox]") !== null;
}

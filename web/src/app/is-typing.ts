/** Whether a key belongs to a field, a menu or a dialog rather than to the page. A choice (radio, check) takes no text. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  const fields = "input:not([type=radio]):not([type=checkbox]), textarea, select";
  if (target.isContentEditable || target.closest(fields)) return true;
  return target.closest("[role=menu], [role=dialog], [role=listbox]") !== null;
}

/** A grey shape where content will be. The list that holds it says that it is loading. */
export function Skeleton({ className = "" }: { className?: string }) {
  return <span aria-hidden="true" className={`block animate-shimmer rounded-md bg-line ${className}`} />;
}

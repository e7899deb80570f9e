import { Skeleton } from "~/ui/Skeleton";

/** Where a diff will be. */
export function DiffSkeleton() {
  return (
    <div
      role="status"
      aria-label="Loading the diff"
      className="m-3 flex flex-col gap-2 rounded-xl border border-line p-3"
    >
      <Skeleton className="h-3 w-3/5" />
      <Skeleton className="h-3 w-4/5" />
      <Skeleton className="h-3 w-2/5" />
    </div>
  );
}

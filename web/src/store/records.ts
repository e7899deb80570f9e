/**
 * Records keyed by ids that others choose: a message, a task or a repository may be called `constructor`, which any
 * plain object seems to hold already. These inherit nothing.
 */
export function emptyRecord<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}

/** The rows by their key. */
export function recordOf<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  const record = emptyRecord<T>();
  for (const [key, value] of entries) record[key] = value;
  return record;
}

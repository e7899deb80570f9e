/**
 * A record cut into a fixed number of shards. Writing one key of a 10,000-key record through Immer copies 10,000
 * references; writing it into one of 64 shards copies about 160.
 */
import { emptyRecord } from "./records";

/** Small enough that an empty store costs nothing, large enough that a shard of 10,000 tasks stays short. */
export const SHARDS = 64;

export type Sharded<T> = Record<string, T>[];

export function emptyShards<T>(): Sharded<T> {
  return Array.from({ length: SHARDS }, () => emptyRecord<T>());
}

/** Ids are time-ordered UUIDs: the end is the random part, so the end decides the shard. */
function shardIndex(id: string): number {
  let hash = 0;
  for (let i = Math.max(0, id.length - 6); i < id.length; i++) hash = (hash * 31 + id.charCodeAt(i)) >>> 0;
  return hash % SHARDS;
}

/** The shard that holds (or would hold) `id`. */
export function shardOf<T>(shards: Sharded<T>, id: string): Record<string, T> {
  const shard = shards[shardIndex(id)];
  if (shard === undefined) throw new Error("a sharded record always has all its shards");
  return shard;
}

export function entryOf<T>(shards: Sharded<T>, id: string): T | undefined {
  return shardOf(shards, id)[id];
}

export function valuesOf<T>(shards: Sharded<T>): T[] {
  return shards.flatMap((shard) => Object.values(shard));
}

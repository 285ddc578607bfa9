import type { Post, Posts } from '../kill/posts.ts';
import type { DiskEvent } from './disk-events.ts';

/** What somebody was told is in the store, by a response or by what a command printed: from then on no power loss may lose it. */
export interface Promises {
  /** Ids by animal. */
  readonly animals: Map<Post, bigint>;
  readonly keyIds: Set<string>;
}

/** Adds what bytes tell of animals, in the answer to an add or in a page, and of new keys. */
export function takePromises({ animals, keyIds }: Promises, event: DiskEvent, posts: Posts): void {
  if (event.kind !== 'send') return;
  for (const [, id = '', name = ''] of event.text.matchAll(/\{"id":(\d+),"name":("(?:[^"\\]|\\.)*")/g)) {
    const post = posts.byName.get(JSON.parse(name));
    if (post !== undefined) animals.set(post, BigInt(id));
  }
  for (const [, id = ''] of event.text.matchAll(/"id":"(key_[^"]+)"/g)) keyIds.add(id);
}

import type { Post, Posts } from '../kill/posts.ts';
import type { DiskEvent } from './disk-events.ts';

/** What a response or the output of a command promised to be in the store. No power loss may lose it. */
export interface Promises {
  /** Ids by animal. */
  readonly animals: Map<Post, bigint>;
  readonly keyIds: Set<string>;
}

/**
 * Adds the animals and new keys in sent bytes: in the answer to an addition, in a page, or in the output of a command.
 */
export function takePromises({ animals, keyIds }: Promises, event: DiskEvent, posts: Posts): void {
  if (event.kind !== 'send') return;
  for (const [, id = '', name = ''] of event.text.matchAll(/\{"id":(\d+),"name":("(?:[^"\\]|\\.)*")/g)) {
    const post = posts.byName.get(JSON.parse(name));
    if (post !== undefined) animals.set(post, BigInt(id));
  }
  for (const [, id = ''] of event.text.matchAll(/"id":"(key_[^"]+)"/g)) keyIds.add(id);
}

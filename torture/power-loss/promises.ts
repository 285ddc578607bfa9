import type { Post, Posts } from '../kill/posts.ts';
import type { DiskEvent } from './disk-events.ts';

/** The animals and keys that a response or the output of a command confirmed. No power loss may lose them. */
export interface Promises {
  /** Ids by animal. */
  readonly animals: Map<Post, bigint>;
  readonly keyIds: Set<string>;
}

/**
 * Records the animals and keys in sent bytes: in the answer to an add, in a page, or in the output of a command.
 */
export function takePromises({ animals, keyIds }: Promises, event: DiskEvent, posts: Posts): void {
  if (event.kind !== 'send') return;
  for (const [, id = '', name = ''] of event.text.matchAll(/\{"id":(\d+),"name":("(?:[^"\\]|\\.)*")/g)) {
    const post = posts.byName.get(JSON.parse(name));
    if (post !== undefined) animals.set(post, BigInt(id));
  }
  for (const [, id = ''] of event.text.matchAll(/"id":"(key_[^"]+)"/g)) keyIds.add(id);
}

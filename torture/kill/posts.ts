import { createRandom, type Random } from '../random.ts';

/** A sent animal, and the known results of its request. */
export interface Post {
  readonly name: string;
  readonly categoryId: bigint;
  /** Null omits the field. */
  readonly status: 'available' | 'pending' | 'sold' | null;
  readonly idempotencyKey: string | null;
  /** The id in the 201. Null if no answer came. */
  answeredId: bigint | null;
  /** The id of its row. Null if none was found. */
  storedId: bigint | null;
}

/** All sent animals by name. Names are unique. */
export interface Posts {
  readonly byName: ReadonlyMap<string, Post>;
  /** Creates an animal with random fields that depend only on the seed. */
  make(): Post;
  /** Records the body of a 201. Throws if the body differs from the sent animal, or has the id of another animal. */
  answer(post: Post, body: string): void;
  /** Returns the animals created since the last call. */
  takeNew(): readonly Post[];
}

const tails = ['Rex', 'Zoë', '🐈‍⬛ "Mo" \\ Jr.', '小花', 'O’Hara </script>', ' two  blanks '];
const statuses = ['available', 'pending', 'sold', null] as const;

export function createPosts(seed: number): Posts {
  const random = createRandom(seed);
  const byName = new Map<string, Post>();
  const byId = new Map<bigint, Post>();
  let fresh: Post[] = [];

  return {
    byName,

    make() {
      const key = `post-${byName.size}`;
      const post: Post = {
        name: `${key} ${random.pick(tails)}`,
        categoryId: chooseInt64(random),
        status: random.pick(statuses),
        idempotencyKey: random.next() < 0.5 ? key : null,
        answeredId: null,
        storedId: null,
      };
      byName.set(post.name, post);
      fresh.push(post);
      return post;
    },

    answer(post, body) {
      const id = BigInt(/^\{"id":(\d+),/.exec(body)?.[1] ?? 0);
      if (body !== formatPet(post, id)) throw new Error(`sent ${formatPost(post)}, answered ${body}`);
      const other = byId.get(id);
      if (other !== undefined && other !== post)
        throw new Error(`the id ${id} was given to ${other.name} and to ${post.name}`);
      if (post.answeredId !== null && post.answeredId !== id)
        throw new Error(`${post.name} was answered with the ids ${post.answeredId} and ${id}`);
      byId.set(id, post);
      post.answeredId = id;
    },

    takeNew() {
      const taken = fresh;
      fresh = [];
      return taken;
    },
  };
}

function chooseInt64(random: Random): bigint {
  const high = BigInt(random.between(-(2 ** 31), 2 ** 31 - 1));
  return (high << 32n) + BigInt(random.between(0, 2 ** 32 - 1));
}

/** Formats the body of the request. */
export function formatPost({ name, categoryId, status }: Post): string {
  const rest = status === null ? '' : `,"status":"${status}"`;
  return `{"name":${JSON.stringify(name)},"categoryId":${categoryId}${rest}}`;
}

function formatPet({ name, categoryId, status }: Post, id: bigint): string {
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status ?? 'available'}"}`;
}

import { openRaw, type RawConnection, type RawResponse } from '../../test/support/raw-http.ts';
import { createRandom } from '../random.ts';
import type { TortureContext } from '../scenario.ts';
import { formatPost, type Post, type Posts } from './posts.ts';

export const connections = 64;

/** The answers that the writers of one round received. Times are from `performance.now()`. */
export interface Written {
  /** The time of each answer, in order. */
  readonly answeredAtMs: readonly number[];
  /** Animals whose answer was cut off. */
  readonly unanswered: readonly Post[];
}

/**
 * Adds animals over 64 persistent connections, one after the other on each, until every connection breaks. Immediately
 * repeats one in ten adds that have an Idempotency-Key. Throws if an answer is wrong.
 */
export async function writeUntilKilled(
  context: TortureContext,
  service: { readonly url: string; readonly key: string },
  posts: Posts,
): Promise<Written> {
  const answeredAtMs: number[] = [];
  const unanswered: Post[] = [];
  const random = createRandom(context.seed);

  async function send(connection: RawConnection, post: Post): Promise<RawResponse | null> {
    connection.send(formatRequest(service, post));
    const answer = await connection.read().catch(() => null);
    if (answer !== null) answeredAtMs.push(performance.now());
    return answer;
  }

  async function write(): Promise<void> {
    const connection = await openRaw(context, service.url).catch(() => null);
    if (connection === null) return;
    for (;;) {
      const post = posts.make();
      const answer = await send(connection, post);
      if (answer === null) {
        unanswered.push(post);
        return;
      }
      takeAnswer(posts, post, answer);
      if (post.idempotencyKey === null || random.next() >= 0.1) continue;
      const again = await send(connection, post);
      if (again === null) return;
      takeReplay(posts, post, again);
    }
  }

  await Promise.all(Array.from({ length: connections }, write));
  return { answeredAtMs, unanswered };
}

/** Formats a request with one character per byte of its body, as raw-http sends it. */
export function formatRequest({ url, key }: { url: string; key: string }, post: Post): string {
  const body = Buffer.from(formatPost(post)).toString('latin1');
  const lines = [
    `POST ${new URL(url).pathname}/pets HTTP/1.1`,
    'host: localhost',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ];
  if (post.idempotencyKey !== null) lines.push(`idempotency-key: ${post.idempotencyKey}`);
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** Records the answer to an add. Throws if it is not 201 with the sent animal. */
export function takeAnswer(posts: Posts, post: Post, { status, body }: RawResponse): void {
  if (status !== 201) throw new Error(`${post.name} was answered with ${status} ${body}`);
  posts.answer(post, body);
}

/** Throws if the answer to a retry does not repeat the first answer. */
export function takeReplay(posts: Posts, post: Post, answer: RawResponse): void {
  takeAnswer(posts, post, answer);
  if (answer.headers.get('idempotent-replayed') !== 'true')
    throw new Error(`the answer to the retry of ${post.name} has no Idempotent-Replayed header`);
}

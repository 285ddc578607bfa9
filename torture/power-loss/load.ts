import type { ServiceProcess } from '../../test/support/processes.ts';
import { openRaw } from '../../test/support/raw-http.ts';
import type { Posts } from '../kill/posts.ts';
import { formatRequest, takeAnswer, takeReplay } from '../kill/writers.ts';
import type { TortureContext } from '../scenario.ts';

const writers = 8;

/** Adds `count` animals over 8 connections, some of which repeat keyed adds. Another one reads the newest page. */
export async function addAnimals(
  context: TortureContext,
  service: ServiceProcess & { readonly key: string },
  posts: Posts,
  count: number,
): Promise<void> {
  let left = count;

  async function write(): Promise<void> {
    const connection = await openRaw(context, service.url);
    const isRepeating = left % 2 === 0;
    while (left-- > 0) {
      const post = posts.make();
      connection.send(formatRequest(service, post));
      takeAnswer(posts, post, await connection.read());
      if (!isRepeating || post.idempotencyKey === null) continue;
      connection.send(formatRequest(service, post));
      takeReplay(posts, post, await connection.read());
    }
    connection.end();
  }

  async function read(): Promise<void> {
    const connection = await openRaw(context, service.url);
    while (left > 0) {
      connection.send(
        `GET /v1/pets?limit=5 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${service.key}\r\n\r\n`,
      );
      const { status } = await connection.read();
      if (status !== 200) throw new Error(`the newest page was answered with ${status}`);
    }
    connection.end();
  }

  await Promise.all([read(), ...Array.from({ length: writers }, write)]);
}

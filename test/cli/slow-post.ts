import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

/** A request to add an animal. The service has received its head and waits for its body. */
export interface SlowPost {
  finish(): Promise<{ readonly status: number | undefined }>;
}

export async function beginPost(baseUrl: string, key: string): Promise<SlowPost> {
  const body = '{"name":"Rex","categoryId":1}';
  const post = request(`${baseUrl}/pets`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) =>
    post.on('response', resolve).on('error', reject),
  );
  answered.catch(() => undefined);
  post.flushHeaders();
  await once(post, 'continue');
  return {
    async finish() {
      post.end(body);
      const answer = await answered;
      answer.resume();
      return { status: answer.statusCode };
    },
  };
}

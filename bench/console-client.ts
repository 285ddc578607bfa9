import { parentPort } from 'node:worker_threads';

/** A call that the client in this worker thread sends. */
export interface SentCall {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
  readonly cookie: string;
}

export interface SentAnswer {
  readonly status: number;
  readonly cookie: string;
  readonly text: string;
  readonly ms: number;
}

parentPort?.on('message', async ({ method, url, body, cookie }: SentCall) => {
  const startedAtMs = performance.now();
  const answer = await fetch(url, {
    method,
    headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json', cookie },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const ms = performance.now() - startedAtMs;
  const [newCookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  parentPort?.postMessage({ status: answer.status, cookie: newCookie, text, ms } satisfies SentAnswer);
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exchange, type Request, type RequestHeaders } from './exchange.ts';

/** Answers of the service as the bare server sends them again. */
export interface Recorded {
  readonly keepAliveMs: number;
  readonly answers: Answers;
}

type Answers = Partial<
  Record<Request['method'], { readonly status: number; readonly headers: string[]; readonly body: string }>
>;

/** What node:http writes by itself, in the service and in the bare server alike. */
const ownHeaders = new Set(['date', 'connection', 'keep-alive']);

/** Records the service's answer to the first request of each method, and gives the file. */
export async function record(
  folder: string,
  origin: string,
  requests: readonly Request[],
  headers: RequestHeaders,
): Promise<string> {
  const answers: Answers = {};
  let keepAliveMs = 0;
  for (const method of ['GET', 'POST'] as const) {
    const request = requests.find((candidate) => candidate.method === method);
    if (request === undefined) continue;
    const answer = await exchange(origin, request, headers);
    const [, seconds = '5'] = /timeout=(\d+)/.exec(String(answer.headers['keep-alive'])) ?? [];
    keepAliveMs = Number(seconds) * 1_000;
    answers[method] = { status: answer.status, headers: withoutOwn(answer.rawHeaders), body: answer.body };
  }
  const file = join(folder, 'recorded.json');
  writeFileSync(file, JSON.stringify({ keepAliveMs, answers } satisfies Recorded));
  return file;
}

function withoutOwn(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter(
    (_, index) => !ownHeaders.has((rawHeaders[index - (index % 2)] ?? '').toLowerCase()),
  );
}

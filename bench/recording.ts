import { writeFileSync } from 'node:fs';
import { type Answer, exchange, type Method, type Request, type RequestHeaders } from './exchange.ts';

/** Recorded answers of the service, which the bare server sends. */
export interface Recorded {
  readonly keepAliveMs: number;
  readonly answers: Answers;
}

export interface RecordedAnswer {
  readonly status: number;
  readonly headers: string[];
  readonly body: string;
}

type Answers = Partial<Record<Method, RecordedAnswer>>;

/** Headers that are not recorded, because node:http adds them in the bare server, too. */
const nodeHeaders = new Set(['date', 'connection', 'keep-alive']);

/**
 * Records the service's answer to the first request of each method in `file`. Throws if an answer is neither 2xx nor
 * 304.
 */
export async function record(
  file: string,
  origin: string,
  requests: readonly Request[],
  headers: RequestHeaders,
): Promise<Recorded> {
  const answers: Answers = {};
  let keepAliveMs = 0;
  for (const method of new Set(requests.map((request) => request.method))) {
    const request = requests.find((candidate) => candidate.method === method);
    if (request === undefined) continue;
    const answer = await exchange(origin, request, headers);
    const [, seconds = '5'] = /timeout=(\d+)/.exec(String(answer.headers['keep-alive'])) ?? [];
    keepAliveMs = Number(seconds) * 1_000;
    answers[method] = toRecorded(answer);
  }
  const recorded = { keepAliveMs, answers };
  writeFileSync(file, JSON.stringify(recorded));
  return recorded;
}

export function toRecorded({ status, rawHeaders, body }: Answer): RecordedAnswer {
  return { status, headers: dropNodeHeaders(rawHeaders), body };
}

function dropNodeHeaders(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter(
    (_, index) => !nodeHeaders.has((rawHeaders[index - (index % 2)] ?? '').toLowerCase()),
  );
}

import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PATCH';

/** A request. `path` begins with a slash, and a body is JSON. */
export interface Request {
  readonly method: Method;
  readonly path: string;
  readonly ifNoneMatch?: string;
  readonly ifMatch?: string;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  /** Header names and values, alternating, as the server sent them. */
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type RequestHeaders = Readonly<Record<string, string>>;

const answerMsMax = 10_000;
const connectionsMax = 16;
const agent = new Agent({ keepAlive: true });

/** Sends a request and returns the whole answer. Throws if no 2xx or 304 arrives within 10 s. */
export async function exchange(origin: string, sent: Request, headers: RequestHeaders): Promise<Answer> {
  const answer = await exchangeAny(origin, sent, headers);
  const { status, body } = answer;
  if (status !== 304 && (status < 200 || status > 299))
    throw new Error(`${sent.method} ${sent.path} was answered ${status}: ${body}`);
  return answer;
}

/** Sends a request and returns the whole answer, whatever its status. Throws if none arrives within 10 s. */
export async function exchangeAny(origin: string, sent: Request, headers: RequestHeaders): Promise<Answer> {
  const { method, path, body } = sent;
  const sending = request(new URL(path, origin), {
    method,
    headers: { ...headers, ...ownHeaders(sent) },
    agent,
    signal: AbortSignal.timeout(answerMsMax),
  });
  // `once` and `toArray` report every failure. Without a listener, a failure between them would end the process.
  sending.on('error', () => {});
  sending.end(body);
  const [response]: IncomingMessage[] = await once(sending, 'response');
  const { statusCode: status = 0, rawHeaders = [], headers: answered = {} } = response ?? {};
  const text = Buffer.concat((await response?.toArray()) ?? []).toString();
  return { status, rawHeaders, headers: answered, body: text };
}

/** Returns the headers that only this request needs. */
export function ownHeaders({ ifNoneMatch, ifMatch, body }: Request): RequestHeaders {
  return {
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
}

/** Returns the requests with the current ETag of their answers in `ifNoneMatch`. */
export async function addEtags(
  origin: string,
  requests: readonly Request[],
  headers: RequestHeaders,
): Promise<Request[]> {
  const conditional: Request[] = [];
  const rest = requests.entries();
  async function addNext(): Promise<void> {
    for (const [index, sent] of rest) {
      const { etag } = (await exchange(origin, sent, headers)).headers;
      if (etag === undefined) throw new Error(`${sent.path} has no ETag`);
      conditional[index] = { ...sent, ifNoneMatch: etag };
    }
  }
  await Promise.all(Array.from({ length: connectionsMax }, addNext));
  return conditional;
}

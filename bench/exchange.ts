import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';

/** One request as a server gets it; `path` begins with a slash, a body is JSON. */
export interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  /** Names and values in turn, as they stood on the wire. */
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type RequestHeaders = Readonly<Record<string, string>>;

const answerMsMax = 10_000;
const agent = new Agent({ keepAlive: true });

/** Sends one request and gives the whole answer. Throws unless it is a 2xx and comes within 10 s. */
export async function exchange(
  origin: string,
  { method, path, body }: Request,
  headers: RequestHeaders,
): Promise<Answer> {
  const jsonType = body === undefined ? {} : { 'content-type': 'application/json' };
  const sending = request(new URL(path, origin), {
    method,
    headers: { ...headers, ...jsonType },
    agent,
    signal: AbortSignal.timeout(answerMsMax),
  });
  // `once` and `toArray` tell of every failure; this keeps one that comes between them from ending the process.
  sending.on('error', () => {});
  sending.end(body);
  const [response]: IncomingMessage[] = await once(sending, 'response');
  const { statusCode: status = 0, rawHeaders = [], headers: answered = {} } = response ?? {};
  const text = Buffer.concat((await response?.toArray()) ?? []).toString();
  if (status < 200 || status > 299) throw new Error(`${method} ${path} was answered ${status}: ${text}`);
  return { status, rawHeaders, headers: answered, body: text };
}

import { createError } from './errors.ts';
import { type OperationName, operations } from './generated.ts';
import { isBrowser, type Settings } from './settings.ts';
import { readReason, startDeadline } from './waiting.ts';

/** The request of a call. Every attempt sends the same request. */
export interface Outgoing {
  /** Null if this version of the client does not know the operation. */
  readonly operation: OperationName | null;
  /** Used only if `operation` is null. */
  readonly method?: string;
  /** The path and query after the base address: `/pets?limit=5`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A response with its body. If the body is not JSON, it is not read and `text` is null. */
export interface Incoming {
  readonly response: Response;
  readonly text: string | null;
  /** The API key of the request. */
  readonly apiKey: string;
}

/**
 * Sends a request once and reads the whole response. Throws `connection_failed` or `timed_out` if no complete response
 * arrives. If `signal` is aborted, throws its reason instead. If the function that returns the API key throws, throws
 * the same error.
 */
export async function exchange(
  settings: Settings,
  outgoing: Outgoing,
  attempts: number,
  signal: AbortSignal | undefined,
): Promise<Incoming> {
  const apiKey = await settings.readApiKey();
  const deadline = startDeadline(settings.timeoutMs, signal);
  try {
    const response = await settings.fetch(settings.baseUrl + outgoing.path, {
      ...toRequest(settings, outgoing, apiKey),
      signal: deadline.signal,
    });
    return { response, text: await readText(response), apiKey };
  } catch (cause) {
    if (signal?.aborted) throw readReason(signal);
    const address = nameAddress(settings, outgoing);
    if (deadline.isOver()) {
      const message = `no complete answer from ${address} within ${settings.timeoutMs} ms`;
      throw createError('timed_out', message, { attempts, cause });
    }
    const message = `no answer from ${address}: ${nameReason(cause)}${isBrowser ? corsHint : ''}`;
    throw createError('connection_failed', message, { attempts, cause });
  } finally {
    deadline.end();
  }
}

/** Returns the URL of a request without its query. */
export function nameAddress({ baseUrl }: Settings, { path }: Outgoing): string {
  return baseUrl + path.replace(/\?.*/, '');
}

export function methodOf({ operation, method = 'GET' }: Outgoing): string {
  return operation === null ? method : operations[operation].method;
}

function toRequest({ userAgent }: Settings, outgoing: Outgoing, apiKey: string): RequestInit {
  const { headers, body } = outgoing;
  return {
    method: methodOf(outgoing),
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json',
      ...(userAgent !== null && { 'user-agent': userAgent }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    // The service sends no redirects. Following one could turn a POST into a GET.
    redirect: 'manual',
    credentials: 'omit',
    ...(body !== undefined && { body }),
  };
}

async function readText(response: Response): Promise<string | null> {
  const isJson = /^application\/json\b/i.test(response.headers.get('content-type') ?? '');
  if (isJson) return await response.text();
  await response.body?.cancel();
  return null;
}

const corsHint = ' (is the origin of this page in CORS_ORIGINS of the service?)';

/**
 * Returns the reason of a failed `fetch`. In Node.js, the reason is in `cause`. If Node.js tried several addresses,
 * `cause` has only a code.
 */
function nameReason(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}

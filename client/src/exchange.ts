import { createError } from './errors.ts';
import type { OperationName } from './operations.ts';
import { operations } from './operations.ts';
import { isBrowser, type Settings } from './settings.ts';
import { startDeadline } from './waiting.ts';

/** The request of a call, the same in every attempt. */
export interface Outgoing {
  /** Null for an operation that this version of the client does not know. */
  readonly operation: OperationName | null;
  /** Set if the operation is null. */
  readonly method?: string;
  /** The path after the base address: `/pets?limit=5`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer with its body. The text is null if it is not JSON; then it was not read. */
export interface Incoming {
  readonly response: Response;
  readonly text: string | null;
}

/**
 * Sends a request once and reads the whole answer. Throws `connection_failed` or `timed_out` if there is none, and the
 * signal's reason if that is aborted.
 */
export async function exchange(
  settings: Settings,
  outgoing: Outgoing,
  attempts: number,
  signal: AbortSignal | undefined,
): Promise<Incoming> {
  const deadline = startDeadline(settings.timeoutMs, signal);
  try {
    const response = await settings.fetch(settings.baseUrl + outgoing.path, {
      ...toRequest(settings, outgoing),
      signal: deadline.signal,
    });
    return { response, text: await readText(response) };
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
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

/** The address of a call without its query. */
export function nameAddress({ baseUrl }: Settings, { path }: Outgoing): string {
  return baseUrl + path.replace(/\?.*/, '');
}

/** The HTTP method of a call. */
export function methodOf({ operation, method = 'GET' }: Outgoing): string {
  return operation === null ? method : operations[operation].method;
}

function toRequest({ apiKey, userAgent }: Settings, outgoing: Outgoing): RequestInit {
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
    // A redirect would turn a POST into a GET, and the service sends none.
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
 * Names the reason of a failed `fetch`. Node.js has it in `cause`, and only as a code if it tried several addresses.
 */
function nameReason(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}

import { AnimalStoreError } from './errors.ts';
import type { OperationName } from './operations.ts';
import { operations } from './operations.ts';
import { isBrowser, type Settings } from './settings.ts';
import { startDeadline } from './waiting.ts';

/** What is sent for a call, the same at every attempt. */
export interface Outgoing {
  readonly operation: OperationName;
  /** What follows the base address: `/pets?limit=5`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer with its body; the text is null where it is not JSON and was not read. */
export interface Incoming {
  readonly response: Response;
  readonly text: string | null;
}

/**
 * Sends a request once and reads the whole answer, whatever it is. Throws `connection_failed` or `timed_out` where
 * there is none, and the signal's reason once that is aborted.
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
      const message = `no whole answer from ${address} within ${settings.timeoutMs} ms`;
      throw new AnimalStoreError('timed_out', message, { attempts, cause });
    }
    const message = `no answer from ${address}: ${nameReason(cause)}${isBrowser ? corsHint : ''}`;
    throw new AnimalStoreError('connection_failed', message, { attempts, cause });
  } finally {
    deadline.end();
  }
}

/** The address of a call without its query. */
export function nameAddress({ baseUrl }: Settings, { path }: Outgoing): string {
  return baseUrl + path.replace(/\?.*/, '');
}

function toRequest({ apiKey, userAgent }: Settings, { operation, headers, body }: Outgoing): RequestInit {
  return {
    method: operations[operation].method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json',
      ...(userAgent !== null && { 'user-agent': userAgent }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    // A redirect would turn a POST into a GET, and the service knows none.
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

const corsHint = ' (does CORS_ORIGINS of the service name the origin of this page?)';

/** Node.js has the reason one level down, and where several addresses were tried only a code. */
function nameReason(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}

import { createError } from './errors.ts';
import { parseExactJson } from './exact-json.ts';
import { type Incoming, nameAddress, type Outgoing } from './exchange.ts';
import { type ErrorBody, operations } from './generated.ts';
import { type ResponseInfo, readResponseInfo, readRetryAfter } from './response-info.ts';
import type { Settings } from './settings.ts';
import { mismatch, readShape } from './shapes.ts';

/** A request and a function that reads the value of its successful response. */
export interface Call<T> extends Outgoing {
  /** Returns `mismatch` for a value that cannot come from this operation. */
  readonly read: (value: unknown, status: number) => T | typeof mismatch;
  /**
   * True if a retry could apply the request twice. Such a request is retried only after a 429, because then the service
   * did nothing.
   */
  readonly isOnce?: boolean;
}

/** A successful response. `value` is the parsed body. */
export interface Answer<T> {
  readonly value: T;
  /** The body as received. Null if it is not JSON. */
  readonly text: string | null;
  readonly response: ResponseInfo;
}

/**
 * Parses a response. Throws the service's error with its code. Throws `unexpected_answer` if the response cannot come
 * from an Animal Store.
 */
export function readAnswer<T>(
  settings: Settings,
  call: Call<T>,
  { response, text, apiKey }: Incoming,
  attempts: number,
): Answer<T> {
  const info = readResponseInfo(response, attempts);
  const parsed = text === null ? undefined : parse(text);
  if (response.ok || response.status === 304) {
    const value = call.read(parsed, response.status);
    if (value !== mismatch) return { value, text, response: info };
  }
  const details = { ...info, retryAfterSeconds: readRetryAfter(info.headers, Date.now()) };
  const address = nameAddress(settings, call);
  const error = readShape('Error', parsed) as ErrorBody | typeof mismatch;
  if (!response.ok && error !== mismatch && error.status === response.status) {
    // This path exists in every store, so a 404 means that baseUrl is wrong.
    const hint = error.code === 'not_found' && isListed(call) ? `; check baseUrl: ${address}` : '';
    throw createError(error.code, error.message.replaceAll(apiKey, '<apiKey>') + hint, details);
  }
  const message = `${address} answered ${describe(response, text)}: ${judge(response)}`;
  throw createError('unexpected_answer', message, details);
}

/**
 * True if the path of the operation exists in every store. False for `placeOrder`: it answers 404 for an unknown
 * animal.
 */
function isListed({ operation }: Outgoing): boolean {
  if (operation === null || operation === 'placeOrder') return false;
  return !operations[operation].path.includes('{');
}

/** Returns undefined if the text is not JSON. */
function parse(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

function describe({ status, type, headers }: Response, text: string | null): string {
  if (type === 'opaqueredirect') return 'with a redirect';
  const location = headers.get('location');
  if (status >= 300 && status < 400 && location !== null) return `with a redirect to ${location}`;
  if (text !== null) return `${status} with unexpected JSON`;
  return `${status} with ${headers.get('content-type') ?? 'no content type'}`;
}

function judge({ status }: Response): string {
  return status >= 500
    ? 'a proxy in front of the Animal Store failed, or baseUrl is wrong'
    : 'this is not a response from an Animal Store; check baseUrl';
}

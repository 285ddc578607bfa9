import { createError } from './errors.ts';
import { parseExactJson } from './exact-json.ts';
import { type Incoming, nameAddress, type Outgoing } from './exchange.ts';
import type { ErrorBody } from './generated.ts';
import { operations } from './operations.ts';
import { type ResponseInfo, readResponseInfo, readRetryAfter } from './response-info.ts';
import type { Settings } from './settings.ts';

/** A call with a check for its successful answer. */
export interface Call<T> extends Outgoing {
  readonly isExpected: (value: unknown, status: number) => value is T;
  /** Whether a repetition could act twice. Such a call is repeated only after a 429: then the service did nothing. */
  readonly isOnce?: boolean;
}

/** The answer to a call. */
export interface Answer<T> {
  readonly value: T;
  /** The body as it was received. Null if it is not JSON. */
  readonly text: string | null;
  readonly response: ResponseInfo;
}

/**
 * Reads the answer to a call. Throws the service's error with its code, or `unexpected_answer` for an answer that an
 * Animal Store would not send.
 */
export function readAnswer<T>(
  settings: Settings,
  call: Call<T>,
  { response, text }: Incoming,
  attempts: number,
): Answer<T> {
  const info = readResponseInfo(response, attempts);
  const value = text === null ? undefined : parse(text);
  if (response.ok && call.isExpected(value, response.status)) return { value, text, response: info };
  const details = { ...info, retryAfterSeconds: readRetryAfter(info.headers, Date.now()) };
  const address = nameAddress(settings, call);
  if (!response.ok && isErrorBody(value) && value.status === BigInt(response.status)) {
    // The list always exists, so the address is wrong.
    const hint = value.code === 'not_found' && isListed(call) ? `; check baseUrl: ${address}` : '';
    const message = value.message.replaceAll(settings.apiKey, '<apiKey>');
    throw createError(value.code, message + hint, details);
  }
  const message = `${address} answered ${describe(response, text)}: ${judge(response)}`;
  throw createError('unexpected_answer', message, details);
}

/** Whether the address of a call always exists. */
function isListed({ operation }: Outgoing): boolean {
  if (operation === null || operation === 'placeOrder') return false;
  return !operations[operation].path.includes('{');
}

/** Parses JSON with exact integers. Undefined if it is not JSON. */
function parse(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

/** An error body with exact integers. */
type ReadErrorBody = Omit<ErrorBody, 'status'> & { readonly status: bigint };

function isErrorBody(value: unknown): value is ReadErrorBody {
  if (typeof value !== 'object' || value === null) return false;
  const { code, message, status } = value as Record<string, unknown>;
  return typeof code === 'string' && typeof message === 'string' && typeof status === 'bigint';
}

function describe({ status, type, headers }: Response, text: string | null): string {
  if (type === 'opaqueredirect') return 'with a redirect';
  const location = headers.get('location');
  if (status >= 300 && status < 400 && location !== null) return `with a redirect to ${location}`;
  if (text !== null) return `${status} with JSON of another shape`;
  return `${status} with ${headers.get('content-type') ?? 'no content type'}`;
}

function judge({ status }: Response): string {
  return status >= 500
    ? 'something in front of the Animal Store failed, or baseUrl leads elsewhere'
    : 'this is not an answer of an Animal Store; check baseUrl';
}

import { AnimalStoreError } from './errors.ts';
import { parseExactJson } from './exact-json.ts';
import { type Incoming, nameAddress, type Outgoing } from './exchange.ts';
import type { ErrorBody } from './generated.ts';
import { operations } from './operations.ts';
import { type ResponseInfo, readResponseInfo, readRetryAfter } from './response-info.ts';
import type { Settings } from './settings.ts';

/** A call: what is sent, and what a success of it is. */
export interface Call<T> extends Outgoing {
  readonly isExpected: (value: unknown, status: number) => value is T;
}

/** What a call gave. */
export interface Answer<T> {
  readonly value: T;
  readonly response: ResponseInfo;
}

/**
 * Reads what came back for a call. Throws the service's own failure under its code, and `unexpected_answer` for
 * whatever an Animal Store would not say.
 */
export function readAnswer<T>(
  settings: Settings,
  call: Call<T>,
  { response, text }: Incoming,
  attempts: number,
): Answer<T> {
  const info = readResponseInfo(response, attempts);
  const value = text === null ? undefined : parse(text);
  if (response.ok && call.isExpected(value, response.status)) return { value, response: info };
  const details = { ...info, retryAfterSeconds: readRetryAfter(info.headers, Date.now()) };
  const address = nameAddress(settings, call);
  if (!response.ok && isErrorBody(value) && value.status === BigInt(response.status)) {
    // The list is always there, so it is the address that is wrong.
    const hint = value.code === 'not_found' && isListed(call) ? `; check baseUrl: ${address}` : '';
    const message = value.message.replaceAll(settings.apiKey, '<apiKey>');
    throw new AnimalStoreError(value.code, message + hint, details);
  }
  const message = `${address} answered ${describe(response, text)}: ${judge(response)}`;
  throw new AnimalStoreError('unexpected_answer', message, details);
}

/** Whether a call goes to an address that is always there. */
function isListed({ operation }: Outgoing): boolean {
  return !operations[operation].path.includes('{') && operation !== 'placeOrder';
}

/** What JSON.parse makes of it with exact integers; undefined where it is no JSON. */
function parse(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

/** An error body as it is read, where integers are exact. */
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
    : 'this is no answer of an Animal Store; check baseUrl';
}

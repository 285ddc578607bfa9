import { createLineBudget } from '../observability/line-budget.ts';
import type { Log } from '../observability/log.ts';
import { toPrintable } from '../observability/printable.ts';
import { redactKeys } from '../observability/redact-keys.ts';
import type { Exchange } from './exchange.ts';
import type { ClientAddress } from './request/client-address.ts';
import { readPath } from './request/path.ts';

/** The duration from which a request is slow and always logged, in milliseconds. */
export const slowRequestMs = 1_000;

/**
 * How many 503 answers are logged a second. A failing store refuses thousands of requests, and the log may be on the
 * disk that is full. LOG_REQUESTS=all logs every request.
 */
export const unavailableLinesMax = 10;

/** The answer to an unreadable request. */
export interface MalformedNote {
  readonly requestId: string;
  readonly status: number;
  readonly address: string;
}

/** Is called for every answer. */
export interface RequestObserver {
  /**
   * `ms` is the time from the arrival of the head to the sending of the answer, without the wait that the client asked
   * for.
   */
  note(exchange: Exchange, status: number, ms: number): void;
  noteMalformed(note: MalformedNote): void;
}

/** Logs every answered request, or only those that failed with 5xx or were slow. It never logs a query string. */
export function createRequestLog(
  log: Log,
  which: 'errors' | 'all',
  addressOf: ClientAddress,
): RequestObserver {
  const budget = createLineBudget(unavailableLinesMax);

  function write(exchange: Exchange, status: number, ms: number, omitted: number): void {
    const { id: requestId, request, caller } = exchange;
    const { method = '', url = '' } = request;
    const path = clean(readPath(url) ?? '[unreadable]');
    const line = {
      requestId,
      ...readTraceId(request.headers['traceparent']),
      method,
      path,
      status,
      ms: Math.round(ms * 10) / 10,
      ...(caller === null
        ? { address: clean(addressOf(request)) }
        : { account: caller.accountName, keyId: caller.keyId }),
      ...(omitted > 0 && { omitted }),
    };
    const level = status >= 500 ? 'error' : ms >= slowRequestMs ? 'warn' : 'info';
    log[level](line, `${method} ${path} ${status}`);
  }

  return {
    note(exchange, status, ms) {
      if (which !== 'all' && status < 500 && ms < slowRequestMs) return;
      const omitted = status === 503 && which !== 'all' ? budget.spend() : 0;
      if (omitted !== null) write(exchange, status, ms, omitted);
    },
    noteMalformed(note) {
      if (which === 'all') log.info(note, `malformed request ${note.status}`);
    },
  };
}

/** A client's text on one line, without API keys. A path must be decoded first, so that a key in it is recognised. */
function clean(text: string): string {
  return redactKeys(toPrintable(text));
}

const traceparent = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/** The trace id of a `traceparent` (W3C Trace Context), or nothing if it is malformed. */
function readTraceId(header: string | readonly string[] | undefined): { readonly traceId?: string } {
  const [, traceId] = traceparent.exec(String(header ?? '')) ?? [];
  return traceId === undefined || /^0+$/.test(traceId) ? {} : { traceId };
}

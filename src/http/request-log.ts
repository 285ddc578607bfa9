import { reasonOf } from '../errors.ts';
import { createLineBudget, type Log } from '../observability/log.ts';
import { toSafeText } from '../observability/safe-text.ts';
import type { FailedRequests } from '../usage/failed-requests.ts';
import type { Exchange } from './exchange.ts';
import type { ClientAddress } from './request/client-address.ts';
import { readPath } from './router.ts';

/** Duration in ms from which a request counts as slow. Slow requests are always logged. */
export const slowRequestMs = 1_000;

/**
 * Maximum number of log lines per second for 503 responses, and the same for slow requests. A failing store refuses
 * thousands, a crowd slows down all, and the log may be on the disk that is full. With LOG_REQUESTS=all, there is no maximum.
 */
export const linesPerSecondMax = 10;

export interface MalformedNote {
  readonly requestId: string;
  readonly status: number;
  readonly address: string;
}

export interface RequestObserver {
  /** `ms` is the time from the arrival of the head until the response is sent, without a wait that the client asked for. */
  note(exchange: Exchange, status: number, ms: number): void;
  noteMalformed(note: MalformedNote): void;
}

/** Logs every request, or only those with status 5xx and slow ones, as `readWhich` says now. Query strings are never logged. */
export function createRequestLog(
  log: Log,
  readWhich: () => 'errors' | 'all',
  addressOf: ClientAddress,
): RequestObserver {
  const budgets = {
    unavailable: createLineBudget(linesPerSecondMax),
    slow: createLineBudget(linesPerSecondMax),
  };

  /** Returns the number of lines that were left out before this one, or null to leave it out too. */
  function spend(status: number): number | null {
    if (readWhich() === 'all') return 0;
    if (status === 503) return budgets.unavailable();
    return status < 500 ? budgets.slow() : 0;
  }

  function write(exchange: Exchange, status: number, ms: number, omitted: number): void {
    const { id: requestId, request, caller, failure } = exchange;
    const { method = '', url = '' } = request;
    const path = toSafeText(readPath(url) ?? '[unreadable]');
    const line = {
      requestId,
      ...readTraceId(request.headers['traceparent']),
      method,
      path,
      status,
      ms: Math.round(ms * 10) / 10,
      ...(failure !== null && { code: failure.code }),
      // A bound that refuses has no cause but itself.
      ...(failure !== null && status >= 500 && { cause: toSafeText(reasonOf(failure.cause ?? failure)) }),
      ...(caller !== null && { account: caller.accountName, keyId: caller.keyId }),
      address: toSafeText(addressOf(request)),
      ...(omitted > 0 && { omitted }),
    };
    const level = status >= 500 ? 'error' : ms >= slowRequestMs ? 'warn' : 'info';
    log[level](line, `${method} ${path} ${status}`);
  }

  return {
    note(exchange, status, ms) {
      if (status < 500 && ms < slowRequestMs && readWhich() !== 'all') return;
      const omitted = spend(status);
      if (omitted !== null) write(exchange, status, ms, omitted);
    },
    noteMalformed(note) {
      if (readWhich() === 'all') log.info(note, `malformed request ${note.status}`);
    },
  };
}

const traceparent = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/** Returns the trace id of a `traceparent` header (W3C Trace Context), or an empty object if there is no valid one. */
function readTraceId(header: string | readonly string[] | undefined): { readonly traceId?: string } {
  const [, traceId] = traceparent.exec(String(header ?? '')) ?? [];
  return traceId === undefined || /^0+$/.test(traceId) ? {} : { traceId };
}

const messageLengthMax = 300;

const nobody = { accountId: null, keyId: null };

/** Records the requests that failed or took over a second. A request that succeeds costs nothing. */
export function recordRequests(
  requests: Pick<FailedRequests, 'note'>,
  addressOf: ClientAddress,
): RequestObserver {
  return {
    note({ id, request, caller, match, failure, given }, status, ms) {
      if (status < 400 && ms < slowRequestMs) return;
      const { accountId, keyId } = caller ?? nobody;
      const { route } = match;
      requests.note({
        accountId,
        keyId,
        status,
        requestId: id,
        durationMs: ms,
        address: clean(addressOf(request)),
        operation: route === null ? null : `${route.method} ${route.path}`,
        subject: findSubject(match.params, given),
        code: failure?.code ?? null,
        message: failure === null ? null : clean(failure.message),
      });
    },
    noteMalformed({ requestId, status, address }) {
      const unknown = { ...nobody, operation: null, subject: null, code: null, message: null, durationMs: 0 };
      requests.note({ ...unknown, address: clean(address), status, requestId });
    },
  };
}

/** The parameters that name an object, each with its word. */
const named = {
  petId: 'animal',
  orderId: 'order',
  webhookId: 'webhook',
  categoryId: 'category',
  keyId: 'key',
} as const;

const subjectLengthMax = 80;

/** Returns the object that a request names in its path or, as an order does, in its body: `animal 7`. */
function findSubject(params: Exchange['match']['params'], body: unknown): string | null {
  return findNamed(params) ?? findNamed(typeof body === 'object' ? { ...body } : {});
}

/** A body may have any value in a field that its operation does not know. Only a text or a number names an object. */
function findNamed(fields: { readonly [name: string]: unknown }): string | null {
  for (const [name, word] of Object.entries(named)) {
    const id = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (isScalar(id)) return clean(`${word} ${id}`).slice(0, subjectLengthMax);
  }
  return null;
}

function isScalar(value: unknown): value is string | number | bigint {
  return ['string', 'number', 'bigint'].includes(typeof value);
}

function clean(text: string): string {
  return toSafeText(text).slice(0, messageLengthMax);
}

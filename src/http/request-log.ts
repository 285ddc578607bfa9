import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../accounts/account.ts';
import type { Log } from '../observability/log.ts';
import { toPrintable } from '../observability/printable.ts';
import { redactKeys } from '../observability/redact-keys.ts';
import { createLineBudget } from './line-budget.ts';
import { readPath } from './path.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** How long it was tried before it came to the framework, in milliseconds. */
    earlyMs: number;
  }
}

/** From when on a request is slow enough to be logged by itself. */
export const slowRequestMs = 1_000;

/**
 * How many requests that were refused with 503 have a line, a second: a store that fails refuses thousands, and the
 * log may go to the very disk that is full. Where each request is logged, all have.
 */
export const unavailableLinesMax = 10;

/** A request that the fast lane has answered once the store had done its part. */
export interface LaneEntry {
  readonly operation: 'listPets' | 'createPet' | 'getPet';
  readonly request: Pick<IncomingMessage, 'method' | 'url'>;
  readonly requestId: string;
  readonly status: number;
  readonly caller: Caller;
  readonly ms: number;
}

/** A line for each answered request, or for those alone that failed with 5xx or were slow. Never a query string. */
export interface RequestLog {
  note(request: FastifyRequest, reply: FastifyReply): void;
  /** The lane is closed where each request is logged. Whose key is known is told without an address. */
  noteLane(entry: LaneEntry): void;
  /** For a request of which no more is known, as it could not be read. */
  noteUnreadable(answer: { requestId: string; status: number; address: string }): void;
}

interface Line {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly caller: Caller | null;
  readonly address?: string;
}

/** How long a request took that has been answered, in milliseconds, from its head on or, behind others, from its turn on. */
export function countMs({ earlyMs }: FastifyRequest, { elapsedTime }: FastifyReply): number {
  return earlyMs + elapsedTime;
}

export function createRequestLog(log: Log, which: 'errors' | 'all'): RequestLog {
  const budget = createLineBudget(unavailableLinesMax);

  function write({ caller, ms, address, ...line }: Line): void {
    const { method, path, status } = line;
    const omitted = status === 503 && which !== 'all' ? budget.spend() : 0;
    if (omitted === null) return;
    log[status >= 500 ? 'error' : ms >= slowRequestMs ? 'warn' : 'info'](
      {
        ...line,
        ms: Math.round(ms * 10) / 10,
        ...(caller && { account: caller.accountName, keyId: caller.keyId }),
        ...(address !== undefined && { address }),
        ...(omitted > 0 && { omitted }),
      },
      `${method} ${path} ${status}`,
    );
  }

  return {
    note(request, reply) {
      const { statusCode: status } = reply;
      const ms = countMs(request, reply);
      if (which !== 'all' && status < 500 && ms < slowRequestMs) return;
      const { id: requestId, method, url, caller, ip } = request;
      // Behind a proxy that is trusted the address is what `X-Forwarded-For` says, which may be anything.
      const address = showText(ip);
      write({ requestId, method, path: showPath(url), status, ms, caller, address });
    },

    noteLane(entry) {
      if (entry.ms < slowRequestMs) return;
      const { request, requestId, status, caller, ms } = entry;
      const { method = '', url = '' } = request;
      write({ requestId, method, path: showPath(url), status, ms, caller });
    },

    noteUnreadable(answer) {
      if (which === 'all') log.info(answer, `an unreadable request ${answer.status}`);
    },
  };
}

/** Decoded, so that a key in it is seen as one. */
function showPath(target: string): string {
  return showText(readPath(target) ?? '[unreadable]');
}

/** A client's text in one line, without any key. */
function showText(text: string): string {
  return redactKeys(toPrintable(text));
}

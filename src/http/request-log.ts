import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../observability/log.ts';
import { readPath } from './path.ts';

/** From when on a request is slow enough to be logged by itself. */
export const slowRequestMs = 1_000;

/** A line for each answered request, or for those alone that failed with 5xx or were slow. Never a query string. */
export interface RequestLog {
  note(request: FastifyRequest, reply: FastifyReply): void;
  /** For a request of which no more is known, as it could not be read. */
  noteUnreadable(answer: { requestId: string; status: number; address: string }): void;
}

export function createRequestLog(log: Log, which: 'errors' | 'all'): RequestLog {
  return {
    note(request, reply) {
      const { statusCode, elapsedTime } = reply;
      const isSlow = elapsedTime >= slowRequestMs;
      if (which !== 'all' && statusCode < 500 && !isSlow) return;
      // Decoded, so that the log sees a key in it as the key that it is.
      const path = readPath(request.url) ?? '[unreadable]';
      log[statusCode >= 500 ? 'error' : isSlow ? 'warn' : 'info'](
        {
          requestId: request.id,
          method: request.method,
          path,
          status: statusCode,
          ms: Math.round(elapsedTime * 10) / 10,
          ...(request.caller && { account: request.caller.accountName, keyId: request.caller.keyId }),
          address: request.ip,
        },
        `${request.method} ${path} ${statusCode}`,
      );
    },

    noteUnreadable(answer) {
      if (which === 'all') log.info(answer, `an unreadable request ${answer.status}`);
    },
  };
}

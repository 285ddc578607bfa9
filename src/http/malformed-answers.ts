import type { AppError } from '../errors.ts';
import type { Limiter } from '../limits/limiter.ts';
import { after } from '../soon.ts';
import type { MalformedOptions } from './connection/malformed-requests.ts';
import { limitError } from './request/admission.ts';
import type { RequestObserver } from './request-log.ts';
import type { Answer } from './response/answer.ts';
import { toLines } from './response/header-lines.ts';
import { securityLines } from './response/security-headers.ts';

/**
 * Makes the answers to requests that are not readable HTTP, with the Error body and the headers of every answer. They
 * are counted by address, because they have no readable key.
 */
export function createMalformedAnswers(options: {
  readonly limiter: Limiter;
  readonly createRequestId: () => string;
  readonly makeErrorAnswer: (error: AppError, lines?: string) => Answer;
  readonly observers: readonly RequestObserver[];
}): MalformedOptions['makeAnswer'] {
  const { limiter, createRequestId, makeErrorAnswer, observers } = options;
  return (failure, address, lines) =>
    after(limiter.takeForAddress(address), ({ code, retryAfterSeconds, headers }) => {
      const requestId = createRequestId();
      const answer =
        code === null
          ? makeErrorAnswer(failure, lines)
          : makeErrorAnswer(limitError(code, retryAfterSeconds));
      for (const observer of observers) observer.noteMalformed({ requestId, status: answer.status, address });
      const common = toLines({ 'x-request-id': requestId, ...headers });
      return { answer, lines: common + securityLines() };
    });
}

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
 * Returns a function that makes the responses to requests that are not valid HTTP. Such a request counts against its
 * address, because its key cannot be read.
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

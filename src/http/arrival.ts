import type { FastifyReply, FastifyRequest } from 'fastify';
import type { KeyVerifier, Verification } from '../accounts/key-verifier.ts';
import { AppError, type ErrorCode } from '../errors.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { Decision } from '../limits/rules/decision.ts';
import { settle } from '../soon.ts';
import type { Admission } from './admission.ts';
import { identify, keyError, needsKey, type Refusal } from './authenticate.ts';
import { securityHeaders } from './security-headers.ts';

export type Done = (error?: Error) => void;

/**
 * What comes before all else: the request's id, its key, its limit, in this order (contract section 6). Whatever
 * follows, the headers of the limit are on the response. It stays in one turn of the event loop where the key is
 * remembered and the counters are in the process, which is nearly always: hence callbacks and not `await`.
 */
export function createArrival(verifier: KeyVerifier, limiter: Limiter, admission: Pick<Admission, 'recall'>) {
  function count(verification: Verification | { refusal: Refusal }, request: FastifyRequest) {
    return 'caller' in verification
      ? limiter.takeForKey(verification.caller)
      : limiter.takeForAddress(request.ip);
  }

  return function arrive(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    reply.header('x-request-id', request.id).headers(securityHeaders);

    function fail(error: Error): void {
      function refuse({ headers }: Decision): void {
        reply.headers(headers);
        done(error);
      }
      settle(limiter.peekAddress(request.ip), refuse, done);
    }

    const early = admission.recall(request.raw);
    request.earlyMs = early?.ms ?? 0;

    function judge(verification: Verification | { refusal: Refusal }, decision: Decision): void {
      reply.headers(decision.headers);
      if ('caller' in verification) request.caller = verification.caller;
      if (decision.code !== null) done(limitError(decision.code, decision.retryAfterSeconds));
      else if ('refusal' in verification && needsKey(request)) done(keyError(verification.refusal));
      else done(request.brokenBy ?? early?.failure ?? undefined);
    }

    settle(
      identify(verifier, request.headers.authorization),
      (verification) =>
        settle(
          early?.decision ?? count(verification, request),
          (decision) => judge(verification, decision),
          fail,
        ),
      fail,
    );
  };
}

/** What a client is told of a refusal by a limit or a ban. */
export function limitError(code: ErrorCode, retryAfterSeconds: number): AppError {
  const reason =
    code === 'key_banned'
      ? 'this API key is banned for a while because it went on after refusals'
      : 'the limit of requests is reached';
  return new AppError(code, `${reason}; retry after ${retryAfterSeconds} s`);
}

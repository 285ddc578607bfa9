import type { FastifyReply, FastifyRequest } from 'fastify';
import type { KeyLookup, LookedUp } from '../accounts/key-lookup.ts';
import { AppError, type ErrorCode } from '../errors.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { Decision } from '../limits/rules/decision.ts';
import { type Soon, settle } from '../soon.ts';
import type { Admission, Early } from './admission.ts';
import { identify, isDocumentation, keyError, missing, needsKey, type Refusal } from './authenticate.ts';
import { securityHeaders } from './security-headers.ts';

type Answer = LookedUp | { readonly refusal: Refusal };

export type Done = (error?: Error) => void;

/**
 * What comes before all else: the request's id, its key, its limit, in this order (contract section 6). Whatever
 * follows, the headers of the limit are on the response. It stays in one turn of the event loop where the key is
 * remembered and the counters are in the process, which is nearly always: hence callbacks and not `await`.
 */
export function createArrival(keyLookup: KeyLookup, limiter: Limiter, admission: Pick<Admission, 'recall'>) {
  function authenticate(request: FastifyRequest): Soon<Answer> {
    if (isDocumentation(request)) return missing;
    return identify(request.headers.authorization, (token) => keyLookup.verify(token, request.ip));
  }

  function count(answer: Answer, request: FastifyRequest, early: Early | null): Soon<Decision> {
    if ('decision' in answer) return answer.decision;
    if (early !== null) return early.decision;
    if ('caller' in answer) return limiter.takeForKey(answer.caller);
    return isDocumentation(request) ? limiter.takeForReader(request.ip) : limiter.takeForAddress(request.ip);
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

    function judge(answer: Answer, decision: Decision): void {
      reply.headers(decision.headers);
      if ('caller' in answer) request.caller = answer.caller;
      if (decision.code !== null) done(limitError(decision.code, decision.retryAfterSeconds));
      else if ('refusal' in answer && needsKey(request)) done(keyError(answer.refusal));
      else done(request.brokenBy ?? early?.failure ?? undefined);
    }

    settle(
      authenticate(request),
      (answer) => settle(count(answer, request, early), (decision) => judge(answer, decision), fail),
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

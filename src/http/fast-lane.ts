import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../accounts/account.ts';
import type { KeyVerifier } from '../accounts/key-verifier.ts';
import type { Decision } from '../limits/decision.ts';
import type { Limiter } from '../limits/limiter.ts';
import { identify } from './authenticate.ts';
import type { ReadyAnswers } from './ready-answers.ts';

export interface FastLaneOptions {
  readonly verifier: KeyVerifier;
  readonly limiter: Limiter;
  readonly ready: ReadyAnswers;
  readonly createRequestId: () => string;
  /** Told of each request that was answered here. */
  readonly onAnswered: (target: string) => void;
}

/**
 * The short way of the commonest request: a plain GET, by a remembered key that may read, of what is kept ready. It
 * keeps the order of every request (key, limit, answer) and all headers, without the framework's 3 us around them,
 * which would be a fifth of its cost (docs/performance.md). Whatever is not so plain goes the long way, where the
 * limit's decision, if it was taken here, is not taken again.
 */
export interface FastLane {
  /** Answers a request and tells so, or leaves it untouched. */
  answer(request: IncomingMessage, response: ServerResponse): boolean;
  /** The decision that was taken on a request before it was left to the long way; null if none was. */
  recallDecision(request: IncomingMessage): Decision | Promise<Decision> | null;
}

export function createFastLane(options: FastLaneOptions): FastLane {
  const { verifier, limiter, ready, createRequestId, onAnswered } = options;
  const decided = new WeakMap<IncomingMessage, Decision | Promise<Decision>>();

  function findReader(authorization: string | undefined): Caller | null {
    const verification = identify(verifier, authorization);
    if (verification instanceof Promise || !('caller' in verification)) return null;
    return verification.caller.scopes.includes('pets:read') ? verification.caller : null;
  }

  return {
    answer(request, response) {
      const target = request.url ?? '';
      // A response without a socket waits behind others on its connection, which `unreadable.ts` must know of.
      const isPlainGet = request.method === 'GET' && response.socket !== null && isPlain(request.headers);
      const answer = isPlainGet ? ready.find(target) : null;
      if (answer === null) return false;
      const reader = findReader(request.headers.authorization);
      if (reader === null) return false;
      const decision = limiter.takeForKey(reader);
      if (decision instanceof Promise || decision.code !== null) {
        decided.set(request, decision);
        return false;
      }
      const id = createRequestId();
      response.writeHead(200, {
        'x-request-id': id,
        'x-content-type-options': 'nosniff',
        ...decision.headers,
        ...answer.headers,
      });
      response.end(answer.body);
      onAnswered(target);
      return true;
    },

    recallDecision: (request) => decided.get(request) ?? null,
  };
}

/** Whether nothing in a head asks for more than the thing itself: no preference, condition, page's origin or body. */
function isPlain(headers: IncomingHttpHeaders): boolean {
  return (
    headers['if-none-match'] === undefined &&
    headers['prefer'] === undefined &&
    headers.origin === undefined &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined &&
    headers.host !== undefined &&
    !headers.host.includes(',')
  );
}

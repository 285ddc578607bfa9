import type { IncomingMessage } from 'node:http';
import type { Caller, Scope } from '../accounts/account.ts';
import type { KeyVerifier } from '../accounts/key-verifier.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { Decision } from '../limits/rules/decision.ts';
import type { Soon } from '../soon.ts';
import { identify } from './authenticate.ts';

/** A request that may be answered: whose it is, and the limit's decision on it, which let it pass. */
export interface Admitted {
  readonly caller: Caller;
  readonly decision: Decision;
}

/** What came out of a request before it was left to the long way. */
export interface Early {
  /** It has been counted, so it is not counted again. */
  readonly decision: Soon<Decision>;
  /** Why it could not be done; null where that has not been tried. */
  readonly failure: Error | null;
  /** How long that was tried, in milliseconds. */
  readonly ms: number;
}

/** Key and limit of a request, in this order, on the fast lane. */
export interface Admission {
  /** Null where the long way has to see to it: by any key but a remembered one of that scope, or past the limit. */
  admit(request: IncomingMessage, scope: Scope): Admitted | null;
  /** Keeps what came out of a request for the long way. */
  note(request: IncomingMessage, early: Early): void;
  /** What came out of a request that was left to the long way; null where nothing did. */
  recall(request: IncomingMessage): Early | null;
}

export function createAdmission(verifier: Pick<KeyVerifier, 'recall'>, limiter: Limiter): Admission {
  const known = new WeakMap<IncomingMessage, Early>();

  return {
    admit(request, scope) {
      const verification = identify(request.headers.authorization, verifier.recall);
      if (verification === null || !('caller' in verification)) return null;
      const { caller } = verification;
      if (!caller.scopes.includes(scope)) return null;
      const decision = limiter.takeForKey(caller);
      if (!(decision instanceof Promise) && decision.code === null) return { caller, decision };
      known.set(request, { decision, failure: null, ms: 0 });
      return null;
    },

    note: (request, early) => {
      known.set(request, early);
    },
    recall: (request) => known.get(request) ?? null,
  };
}

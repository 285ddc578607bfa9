import type { Caller } from '../../accounts/account.ts';
import type { KeyLookup, LookedUp } from '../../accounts/key-lookup.ts';
import { AppError, type ErrorCode } from '../../errors.ts';
import type { Limiter } from '../../limits/limiter.ts';
import type { Decision, LimitHeaders } from '../../limits/rules/decision.ts';
import { after, type Soon } from '../../soon.ts';
import type { Exchange } from '../exchange.ts';
import { toAppError } from '../response/errors.ts';
import { authenticate, keyError, type Refusal } from './authentication.ts';
import type { ClientAddress } from './client-address.ts';

/** What key and limit say of a request. */
export interface Admission {
  readonly caller: Caller | null;
  /** Null if the request is not counted. */
  readonly limit: LimitHeaders | null;
  /** Null if the request may go on. */
  readonly refusal: AppError | null;
}

/** What every request passes first. Answers within the call if it can. */
export interface Gate {
  /** Authenticates a request and counts it, in this order (contract section 6). */
  admit(exchange: Exchange): Soon<Admission>;
  /** How the address of a request stands, with nothing counted: for a preflight. */
  peek(exchange: Exchange): Soon<LimitHeaders | null>;
}

/** Asks nobody for a key and counts nothing: for the operator's port. */
export const openGate: Gate = {
  admit: () => ({ caller: null, limit: null, refusal: null }),
  peek: () => null,
};

export function createGate(keyLookup: KeyLookup, limiter: Limiter, addressOf: ClientAddress): Gate {
  function count(exchange: Exchange, identity: LookedUp | { readonly refusal: Refusal }): Soon<Admission> {
    if ('caller' in identity) {
      const { caller } = identity;
      return after(limiter.takeForKey(caller), (decision) => admit(caller, decision, null));
    }
    if ('decision' in identity) return admit(null, identity.decision, null);
    const refusal = exchange.match.access === 'key' ? keyError(identity.refusal) : null;
    const taken = limiter.takeForAddress(addressOf(exchange.request));
    return after(taken, (decision) => admit(null, decision, refusal));
  }

  /** A key that cannot be read is nobody's fault: nothing is counted. */
  function refuseUncounted(exchange: Exchange, error: unknown): Soon<Admission> {
    const peeked = limiter.peekAddress(addressOf(exchange.request));
    const refusal = toAppError(error);
    return after(peeked, ({ headers }) => ({ caller: null, limit: headers, refusal }));
  }

  function admitOne(exchange: Exchange): Soon<Admission> {
    const { request, match } = exchange;
    const address = addressOf(request);
    if (match.access === 'reader')
      return after(limiter.takeForReader(address), (decision) => admit(null, decision, null));
    try {
      const identity = authenticate(keyLookup, request.headers.authorization, address);
      if (!(identity instanceof Promise)) return count(exchange, identity);
      return identity.then(
        (known) => count(exchange, known),
        (error) => refuseUncounted(exchange, error),
      );
    } catch (error) {
      return refuseUncounted(exchange, error);
    }
  }

  return {
    admit: admitOne,
    peek: ({ request }) => after(limiter.peekAddress(addressOf(request)), ({ headers }) => headers),
  };
}

function admit(caller: Caller | null, decision: Decision, refusal: AppError | null): Admission {
  const { code, retryAfterSeconds, headers } = decision;
  return { caller, limit: headers, refusal: code === null ? refusal : limitError(code, retryAfterSeconds) };
}

/** The 429 of a limit or a ban. */
export function limitError(code: ErrorCode, retryAfterSeconds: number): AppError {
  const reason =
    code === 'key_banned'
      ? 'this API key is temporarily banned because it kept sending requests after a 429'
      : 'rate limit exceeded';
  return new AppError(code, `${reason}; retry after ${retryAfterSeconds} s`);
}

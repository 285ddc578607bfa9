import { accountSuspended, type KeyRefusal, keyError } from '../../accounts/account.ts';
import type { KeyVerifier, LookedUp } from '../../accounts/key-verifier.ts';
import { AppError, type ErrorCode } from '../../errors.ts';
import type { Limiter } from '../../limits/limiter.ts';
import type { Decision } from '../../limits/rules/decision.ts';
import { after, type Soon } from '../../promises.ts';
import type { Exchange } from '../exchange.ts';
import { toAppError } from '../response/errors.ts';
import type { ClientAddress } from './client-address.ts';

export interface Gate {
  /**
   * Authenticates and counts a request, and notes both in the exchange. Returns the error if it is refused. Synchronous
   * if the key is remembered and the counts are in memory.
   */
  admit(exchange: Exchange): Soon<AppError | null>;
  /** Authenticates an admitted request again, without counting it. Returns the error if it must now be refused. */
  confirm(exchange: Exchange): Promise<AppError | null>;
  /** Returns what the limits of the address say for a preflight request, which is not counted. */
  peek(exchange: Exchange): Soon<Decision | null>;
}

/** The gate of the operator's port. It requires no key and counts nothing. */
export const openGate: Gate = { admit: () => null, confirm: async () => null, peek: () => null };

/** What is known of a key, or the error code of a request without a valid one. */
type Identity = LookedUp | { readonly refusal: KeyRefusal | 'api_key_missing' };

export function createGate(verifier: KeyVerifier, limiter: Limiter, addressOf: ClientAddress): Gate {
  function authenticate({ request }: Exchange): Soon<Identity> {
    const token = readToken(request.headers.authorization);
    return token === null ? { refusal: 'api_key_missing' } : verifier.verify(token, addressOf(request));
  }

  function count(exchange: Exchange, identity: Identity): Soon<AppError | null> {
    if ('caller' in identity) {
      exchange.caller = identity.caller;
      return after(limiter.takeForKey(identity.caller), (decision) => note(exchange, decision));
    }
    if ('decision' in identity) return note(exchange, identity.decision);
    const refusal = exchange.match.access === 'key' ? keyError(identity.refusal) : null;
    const taken = limiter.takeForAddress(addressOf(exchange.request));
    return after(taken, (decision) => note(exchange, decision) ?? refusal);
  }

  /** Refuses a request whose key the store cannot look up. This is not the client's fault, so it is not counted. */
  function refuseUncounted(exchange: Exchange, error: unknown): Soon<AppError> {
    return after(limiter.peekAddress(addressOf(exchange.request)), (decision) => {
      exchange.decision = decision;
      return toAppError(error);
    });
  }

  return {
    admit(exchange) {
      const { request, match } = exchange;
      if (match.access === 'reader')
        return after(limiter.takeForReader(addressOf(request)), (decision) => note(exchange, decision));
      const identity = authenticate(exchange);
      if (!(identity instanceof Promise)) return count(exchange, identity);
      return identity.then(
        (known) => count(exchange, known),
        (error) => refuseUncounted(exchange, error),
      );
    },

    async confirm({ request, caller }) {
      if (caller === null) return null;
      const verification = await verifier.verifyAgain(readToken(request.headers.authorization) ?? '');
      if ('refusal' in verification) return keyError(verification.refusal);
      return verification.caller.isSuspended ? accountSuspended() : null;
    },

    peek: ({ request }) => limiter.peekAddress(addressOf(request)),
  };
}

const usualScheme = 'Bearer ';
/** Only spaces may separate scheme and token (RFC 9110, section 11.4), so a tab belongs to the token. */
const bearer = /^bearer(?: +|(?=\t))(.+)$/i;

/** Returns the token of an `Authorization` header, or null. The regular expression is too slow for the usual form. */
export function readToken(authorization = ''): string | null {
  const isUsual =
    authorization.startsWith(usualScheme) && authorization.charCodeAt(usualScheme.length) > 0x20;
  return isUsual ? authorization.slice(usualScheme.length) : (bearer.exec(authorization)?.[1] ?? null);
}

/** Notes what the limits leave. Returns the 429 error if the request is beyond them. */
function note(exchange: Exchange, decision: Decision): AppError | null {
  exchange.decision = decision;
  const { code, retryAfterSeconds } = decision;
  return code === null ? null : limitError(code, retryAfterSeconds);
}

export function limitError(code: ErrorCode, retryAfterSeconds: number): AppError {
  const banned = 'this API key is temporarily banned because it kept sending requests after a 429';
  const reason = code === 'key_banned' ? banned : 'rate limit exceeded';
  return new AppError(code, `${reason}; retry after ${retryAfterSeconds} s`);
}

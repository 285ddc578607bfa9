import { accountSuspended, type Caller } from '../../accounts/account.ts';
import type { KeyLookup, LookedUp } from '../../accounts/key-lookup.ts';
import { type KeyRefusal, keyError } from '../../accounts/key-state.ts';
import { AppError, type ErrorCode } from '../../errors.ts';
import type { Limiter } from '../../limits/limiter.ts';
import type { Decision, LimitHeaders, Usage } from '../../limits/rules/decision.ts';
import { after, type Soon } from '../../soon.ts';
import type { Exchange } from '../exchange.ts';
import { toAppError } from '../response/errors.ts';
import type { SignedIn } from '../route.ts';
import type { ClientAddress } from './client-address.ts';

/** The result of authenticating and counting a request. */
export interface Admission {
  readonly caller: Caller | null;
  /** The rate limit headers. Null if no limits apply. */
  readonly limit: LimitHeaders | null;
  /**
   * The rate limit usage of the account after this request. Without a caller, the usage of the address. Null if the
   * request is not counted.
   */
  readonly usage: Usage | null;
  /** The error if the request is refused, otherwise null. */
  readonly refusal: AppError | null;
  /** The signed-in operator. Present only in requests to the console. */
  readonly signedIn?: SignedIn;
}

/** Authenticates and counts every request before the other checks. */
export interface Gate {
  /** Authenticates a request, then counts it. Synchronous if the key is remembered and the counts are in memory. */
  admit(exchange: Exchange): Soon<Admission>;
  /**
   * Authenticates an admitted request again, without counting it. Returns the error if the request must now be refused,
   * otherwise null.
   */
  confirm(exchange: Exchange): Promise<AppError | null>;
  /** Returns the rate limit headers of the request's address for a preflight request, without counting the request. */
  peek(exchange: Exchange): Soon<LimitHeaders | null>;
}

/** The gate of the operator's port. It requires no key and counts nothing. */
export const openGate: Gate = {
  admit: () => ({ caller: null, limit: null, usage: null, refusal: null }),
  confirm: async () => null,
  peek: () => null,
};

/** The error code of a request without a valid key. */
type Refusal = KeyRefusal | 'api_key_missing';

export function createGate(keyLookup: KeyLookup, limiter: Limiter, addressOf: ClientAddress): Gate {
  function authenticate({ request }: Exchange): Soon<LookedUp | { readonly refusal: Refusal }> {
    const token = readToken(request.headers.authorization);
    return token === null ? { refusal: 'api_key_missing' } : keyLookup.verify(token, addressOf(request));
  }

  function count(exchange: Exchange, identity: LookedUp | { readonly refusal: Refusal }): Soon<Admission> {
    if ('caller' in identity) {
      const { caller } = identity;
      return after(limiter.takeForKey(caller), (decision) => admit(caller, decision));
    }
    if ('decision' in identity) return admit(null, identity.decision);
    const refusal = exchange.match.access === 'key' ? keyError(identity.refusal) : null;
    const taken = limiter.takeForAddress(addressOf(exchange.request));
    return after(taken, (decision) => admit(null, decision, refusal));
  }

  /**
   * Refuses a request whose key the store cannot look up. The request is not counted, because the failure is not the
   * client's fault.
   */
  function refuseUncounted(exchange: Exchange, error: unknown): Soon<Admission> {
    const peeked = limiter.peekAddress(addressOf(exchange.request));
    const refusal = toAppError(error);
    return after(peeked, ({ headers }) => ({ caller: null, limit: headers, usage: null, refusal }));
  }

  return {
    admit(exchange) {
      const { request, match } = exchange;
      if (match.access === 'reader')
        return after(limiter.takeForReader(addressOf(request)), (decision) => admit(null, decision));
      const identity = authenticate(exchange);
      if (!(identity instanceof Promise)) return count(exchange, identity);
      return identity.then(
        (known) => count(exchange, known),
        (error) => refuseUncounted(exchange, error),
      );
    },

    async confirm({ request, caller }) {
      if (caller === null) return null;
      const verification = await keyLookup.verifyAgain(readToken(request.headers.authorization) ?? '');
      if ('refusal' in verification) return keyError(verification.refusal);
      return verification.caller.isSuspended ? accountSuspended() : null;
    },

    peek: ({ request }) => after(limiter.peekAddress(addressOf(request)), ({ headers }) => headers),
  };
}

const usualScheme = 'Bearer ';
/**
 * Matches the token after the scheme. Only spaces may separate scheme and token (RFC 9110, section 11.4), so a tab
 * belongs to the token.
 */
const bearer = /^bearer(?: +|(?=\t))(.+)$/i;

/** Returns the token of an `Authorization` header, or null. The regular expression is too slow for the usual form. */
function readToken(authorization = ''): string | null {
  const isUsual =
    authorization.startsWith(usualScheme) && authorization.charCodeAt(usualScheme.length) > 0x20;
  return isUsual ? authorization.slice(usualScheme.length) : (bearer.exec(authorization)?.[1] ?? null);
}

function admit(
  caller: Caller | null,
  { code, retryAfterSeconds, headers, usage }: Decision,
  refusal: AppError | null = null,
): Admission {
  const limited = code === null ? refusal : limitError(code, retryAfterSeconds);
  return { caller, limit: headers, usage, refusal: limited };
}

/** Returns the 429 error of a rate limit or a ban. */
export function limitError(code: ErrorCode, retryAfterSeconds: number): AppError {
  const reason =
    code === 'key_banned'
      ? 'this API key is temporarily banned because it kept sending requests after a 429'
      : 'rate limit exceeded';
  return new AppError(code, `${reason}; retry after ${retryAfterSeconds} s`);
}

import { minuteMs } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { Exchange } from '../../http/exchange.ts';
import { readToken } from '../../http/request/gate.ts';
import type { Sessions } from '../sessions.ts';

/** Number of wrong tokens in a minute that get 401. Further ones get 429. */
export const wrongTokensMax = 60;

const missing = new AppError(
  'token_missing',
  'send a token of an operator as "Authorization: Bearer <TOKEN>": "animal-store operators token NAME" makes one',
);
const invalid = new AppError('token_invalid', 'this token is not valid, or it has expired or was ended');

/**
 * Admits requests with the token of an operator. The wrong tokens of all senders are counted together. A token is always
 * looked up before it counts, so a right one always passes.
 */
export function createTokenGate(sessions: Pick<Sessions, 'find'>, elapsedMs = () => performance.now()) {
  let wrong = 0;
  let endsAtMs = 0;

  function countWrong(refusal: AppError): AppError {
    const nowMs = elapsedMs();
    if (nowMs >= endsAtMs) {
      wrong = 0;
      endsAtMs = nowMs + minuteMs;
    }
    wrong += 1;
    if (wrong <= wrongTokensMax) return refusal;
    const seconds = Math.max(1, Math.ceil((endsAtMs - nowMs) / 1_000));
    return new AppError('rate_limit_exceeded', `too many wrong tokens; retry after ${seconds} s`, {
      retryAfterSeconds: seconds,
    });
  }

  return async (exchange: Exchange): Promise<AppError | null> => {
    const token = readToken(exchange.request.headers.authorization);
    if (token === null) return missing;
    exchange.signedIn = await sessions.find(token, 'token');
    return exchange.signedIn === null ? countWrong(invalid) : null;
  };
}

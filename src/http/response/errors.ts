import { AppError, errorStatus } from '../../errors.ts';
import { type Answer, type HeaderList, makeAnswer } from './answer.ts';

const unavailableRetrySeconds = 1;

/** Returns the error to show to the client. An unexpected error becomes `internal_error`, so that nothing leaks. */
export function toAppError(error: unknown): AppError {
  return error instanceof AppError
    ? error
    : new AppError('internal_error', 'the service failed; try again', { cause: error });
}

/** Makes the response to a failed request, with further `headers`. */
export type MakeErrorAnswer = (error: AppError, headers?: HeaderList) => Answer;

/** `docsUrl` is the URL of the documentation, for a `Link` to the explanation of the error. Null: there is no `Link`. */
export function createErrorAnswers(docsUrl: string | null): MakeErrorAnswer {
  return ({ code, message, retryAfterSeconds }, headers = []) => {
    const status = errorStatus[code];
    const body = JSON.stringify({ code, message, status });
    const retryAfter = retryAfterSeconds === null ? [] : ['retry-after', String(retryAfterSeconds)];
    const help = docsUrl === null ? [] : ['link', `<${docsUrl}/errors#${code}>; rel="help"`];
    return makeAnswer(status, body, [...headers, ...errorHeaders(code), ...retryAfter, ...help]);
  };
}

function errorHeaders(code: AppError['code']): HeaderList {
  const noStore = ['cache-control', 'no-store'];
  if (code === 'unavailable') return [...noStore, 'retry-after', String(unavailableRetrySeconds)];
  const challenge = findChallenge(code);
  return challenge === null ? noStore : [...noStore, 'www-authenticate', challenge];
}

/** Returns the value of `WWW-Authenticate` (RFC 6750), or null if another key would not help. */
function findChallenge(code: AppError['code']): string | null {
  // A request with a key of another account may succeed, so the response asks for authentication.
  if (code === 'api_key_missing' || code === 'token_missing' || code === 'account_suspended') return 'Bearer';
  if (code === 'scope_missing') return 'Bearer error="insufficient_scope"';
  return errorStatus[code] === 401 ? 'Bearer error="invalid_token"' : null;
}

import { redactKeys, toPrintable } from '../observability/safe-text.ts';
import type { FailedRequests } from '../usage/failed-requests.ts';
import type { ClientAddress } from './request/client-address.ts';
import { type RequestObserver, slowRequestMs } from './request-log.ts';

/** Maximum number of characters of a message that are kept. */
const messageLengthMax = 300;

/** Records the requests that failed or took over a second. A request that succeeds costs nothing. */
export function recordRequests(
  requests: Pick<FailedRequests, 'note'>,
  addressOf: ClientAddress,
): RequestObserver {
  return {
    note({ id, request, caller, match, failure }, status, ms) {
      if (status < 400 && ms < slowRequestMs) return;
      const { route } = match;
      requests.note({
        accountId: caller?.accountId ?? null,
        keyId: caller?.keyId ?? null,
        get address() {
          return clean(addressOf(request));
        },
        get operation() {
          return route === null ? null : `${route.method} ${route.path}`;
        },
        status,
        code: failure?.code ?? null,
        get message() {
          return failure === null ? null : clean(failure.message);
        },
        requestId: id,
        durationMs: ms,
      });
    },
    noteMalformed({ requestId, status, address }) {
      const unknown = { accountId: null, keyId: null, operation: null, code: null, message: null };
      requests.note({ ...unknown, address: clean(address), status, requestId, durationMs: 0 });
    },
  };
}

/** A text from a client may contain a key, or characters that a database or a terminal does not take. */
function clean(text: string): string {
  return redactKeys(toPrintable(text)).slice(0, messageLengthMax);
}

import { toSafeText } from '../observability/safe-text.ts';
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
      const { accountId, keyId } = caller ?? nobody;
      const { route } = match;
      requests.note({
        accountId,
        keyId,
        status,
        requestId: id,
        durationMs: ms,
        address: clean(addressOf(request)),
        operation: route === null ? null : `${route.method} ${route.path}`,
        code: failure?.code ?? null,
        message: failure === null ? null : clean(failure.message),
      });
    },
    noteMalformed({ requestId, status, address }) {
      const unknown = { ...nobody, operation: null, code: null, message: null, durationMs: 0 };
      requests.note({ ...unknown, address: clean(address), status, requestId });
    },
  };
}

const nobody = { accountId: null, keyId: null };

function clean(text: string): string {
  return toSafeText(text).slice(0, messageLengthMax);
}

import type { Given } from '../../idempotency/first-answer.ts';
import type { Outcome } from '../operation.ts';

/** Converts the first answer to an idempotency key into an outcome. The body stays the same, byte for byte. */
export function toOutcome({ answer, isReplayed }: Given, baseUrl: string): Outcome {
  const { status, location, body } = answer;
  const headers = { location: `${baseUrl}${location}` };
  return {
    status,
    text: body,
    headers: isReplayed ? { ...headers, 'idempotent-replayed': 'true' } : headers,
  };
}

import type { Given } from '../../idempotency/first-answer.ts';
import type { Outcome } from '../operation.ts';

/** The outcome of an operation under an idempotency key: its first answer, byte for byte. */
export function toOutcome({ answer, isReplayed }: Given, baseUrl: string): Outcome {
  const { status, location, body } = answer;
  const headers = { location: `${baseUrl}${location}` };
  return {
    status,
    text: body,
    headers: isReplayed ? { ...headers, 'idempotent-replayed': 'true' } : headers,
  };
}

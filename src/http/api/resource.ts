import Type from 'typebox';
import { AppError } from '../../errors.ts';
import type { Given } from '../../idempotency/answer-once.ts';
import { parseCanonicalInt64 } from '../../int64.ts';
import { int64Field } from '../../schema.ts';
import type { Outcome } from '../operation.ts';

/** The values of the path parameters of a request. */
export type PathValues = Readonly<Record<string, string | undefined>>;

/**
 * Defines the path parameter `name`, which identifies a record by an int64. `record` is the word for it in messages.
 * `unknown` is the message of `not_found`, which `read` throws for a text that is no canonical int64, because no record can
 * have such an id.
 */
export function defineIdParameter(
  name: string,
  record: string,
  { description = `Identifier of the ${record}.`, example }: { description?: string; example: number },
) {
  const unknown = `${name}: there is no ${record} with this identifier`;
  return {
    unknown,
    schema: Type.Object({ [name]: { ...int64Field(description), examples: [example] } }),
    read(params: PathValues): bigint {
      const id = parseCanonicalInt64(params[name] ?? '');
      if (id === null) throw new AppError('not_found', unknown);
      return id;
    },
  };
}

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

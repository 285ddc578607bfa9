import type { TObject, TSchema } from 'typebox';
import { shareSchemas } from './schemas.ts';

/** The request headers that operations read, besides `Authorization`; all are extensions of the interface. */
export const requestHeaders = {
  'If-None-Match': {
    description: 'Answers 304 if the body still has one of these `ETag`s.',
    schema: { type: 'string', maxLength: 8_192, pattern: '^[ -~]*$' },
    example: '"LXEWQrcmsEQBYnyp-6wy9c"',
  },
  'If-Match': {
    description: 'Changes nothing, and answers 412, unless the animal still has one of these `ETag`s.',
    schema: { type: 'string', maxLength: 8_192, pattern: '^[ -~]*$' },
    example: '"LXEWQrcmsEQBYnyp-6wy9c"',
  },
  'Idempotency-Key': {
    description:
      'A name for this request, kept for 24 hours: sent again with the same body, it gives the first response again and adds nothing.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
    example: '9f6c1c1e-0c0b-4f5e-8a53-2f0f7f7f9a55',
  },
  Prefer: {
    description:
      '`handling=strict` (RFC 7240) refuses query parameters and fields that the operation does not name.',
    schema: { type: 'string', maxLength: 8_192, pattern: '^[ -~]*$' },
    example: 'handling=strict',
  },
} as const;

/** The name of a request header that operations read. */
export type RequestHeader = keyof typeof requestHeaders;

/** The parameters of a schema, `in` the path or the query. What is said of each stands in its property. */
export function describeParameters(place: 'path' | 'query', schema: TObject | undefined): object[] {
  return Object.entries<TSchema>(schema?.properties ?? {}).map(([name, property]) => {
    const {
      description,
      examples,
      rule: _,
      'x-stability': stability,
      ...rest
    } = property as Record<string, unknown>;
    const [example] = (examples as unknown[] | undefined) ?? [];
    return {
      name,
      in: place,
      ...(place === 'path' && { required: true }),
      ...(description !== undefined && { description }),
      ...(place === 'query' && 'items' in rest && { style: 'form', explode: false }),
      schema: shareSchemas(rest),
      ...(example !== undefined && { example }),
      ...(stability !== undefined && { 'x-stability': stability }),
    };
  });
}

/** The request headers as parameters, by their names. */
export function describeRequestHeaders() {
  return Object.fromEntries(
    Object.entries(requestHeaders).map(([name, header]) => [
      name,
      { name, in: 'header', ...header, 'x-stability': 'beta' },
    ]),
  );
}

import type { TObject, TSchema } from 'typebox';
import { shareSchemas } from './schemas.ts';

/** The request headers that operations read, besides `Authorization`. All of these headers are beta. */
export const requestHeaders = {
  'If-None-Match': {
    description: 'Returns 304 if the body still has one of these `ETag`s.',
    schema: { type: 'string', maxLength: 8_192, pattern: '^[ -~]*$' },
    example: '"LXEWQrcmsEQBYnyp-6wy9c"',
  },
  'If-Match': {
    description: 'Returns 412 and changes nothing unless the animal still has one of these `ETag`s.',
    schema: { type: 'string', maxLength: 8_192, pattern: '^[ -~]*$' },
    example: '"LXEWQrcmsEQBYnyp-6wy9c"',
  },
  'Idempotency-Key': {
    description:
      'A unique name for this request, kept for 24 hours. A retry with the same key and body returns the first response and adds nothing.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
    example: '9f6c1c1e-0c0b-4f5e-8a53-2f0f7f7f9a55',
  },
  Prefer: {
    description: '`handling=strict` (RFC 7240) refuses unknown query parameters and fields.',
    schema: { type: 'string', maxLength: 8_192, pattern: '^[ -~]*$' },
    example: 'handling=strict',
  },
} as const;

export type RequestHeader = keyof typeof requestHeaders;

/** Describes the properties of a schema as OpenAPI parameters. */
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

/** Describes the request headers as OpenAPI parameters, by name. */
export function describeRequestHeaders() {
  return Object.fromEntries(
    Object.entries(requestHeaders).map(([name, header]) => [
      name,
      { name, in: 'header', ...header, 'x-stability': 'beta' },
    ]),
  );
}

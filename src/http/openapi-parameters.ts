/** The request headers that operations heed, besides `Authorization`. */
export const requestHeaders = {
  'If-None-Match': {
    description: 'Answers 304 while the body still has one of these `ETag`s.',
    schema: { type: 'string' },
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
    schema: { type: 'string' },
    example: 'handling=strict',
  },
} as const;

export type RequestHeader = keyof typeof requestHeaders;

/** What the interface names; any other parameter is an extension of this service. */
const promised = new Set(['limit', 'status', 'petId']);

const examples: Readonly<Record<string, unknown>> = {
  limit: 20,
  status: 'available',
  cursor: 'AwAAAAAAAAAqrK1CcODeb8rGtA',
  petId: 42,
};

/** A parameter of a route's schema with an example and, where it is an extension, its stability. */
export function completeParameter<P extends { readonly name: string }>(parameter: P) {
  const { name } = parameter;
  return { ...parameter, example: examples[name], ...(!promised.has(name) && { 'x-stability': 'beta' }) };
}

/** The shared parameters, by the names of their headers; all are extensions. */
export function describeRequestHeaders() {
  return Object.fromEntries(
    Object.entries(requestHeaders).map(([name, header]) => [
      name,
      { name, in: 'header', ...header, 'x-stability': 'beta' },
    ]),
  );
}

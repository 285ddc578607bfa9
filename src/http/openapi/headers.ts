/** A header in OpenAPI. If `required` is true, the header is in every response whose description lists it. */
export interface Header {
  readonly description: string;
  readonly required?: true;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly example: string | number;
}

const textLengthMax = 1_024;
const text = { type: 'string', maxLength: textLengthMax, pattern: '^[ -~]*$' };
const count = { type: 'integer', format: 'int64', minimum: 0, maximum: 9_007_199_254_740_991 };

function always(description: string, example: string | number, schema: Header['schema'] = text): Header {
  return { description, required: true, schema, example };
}

function sometimes(description: string, example: string): Header {
  return { description, schema: text, example };
}

/** The headers that a response of any status may have. */
export const universalHeaders = {
  'X-Request-Id': always('The id of this request, which is also in its log line.', 'req_4f1c09a2b7de_7'),
  'X-Content-Type-Options': always('Browsers must not guess another content type.', 'nosniff'),
  'X-Frame-Options': always('Browsers must not show the response in a frame.', 'DENY'),
  'Content-Security-Policy': always(
    'Newer browsers must not show the response in a frame.',
    "frame-ancestors 'none'",
  ),
  'X-RateLimit-Limit': always('The limit that applies to the caller.', 300, count),
  'X-RateLimit-Remaining': always('Requests left in the current window.', 299, count),
  'X-RateLimit-Reset': always('Unix timestamp at which the limit resets.', 1_798_891_260, count),
  'RateLimit-Policy': always(
    'The quota `q` of each window of `w` seconds.',
    '"minute";q=300;w=60, "day";q=10000;w=86400',
  ),
  RateLimit: always(
    'What is left (`r`) of each window, and the seconds (`t`) until it resets.',
    '"minute";r=299;t=60, "day";r=9999;t=86400',
  ),
  Vary: sometimes('`Origin` if the service allows calls from pages of other origins.', 'Origin'),
  'Access-Control-Allow-Origin': sometimes(
    'The `Origin` of the request, if its pages may read the response.',
    'https://app.example.com',
  ),
  'Access-Control-Expose-Headers': sometimes(
    'The headers that these pages may read.',
    'ETag, Link, Retry-After, X-Request-Id',
  ),
};

/** The universal headers of the operator's port, which has no rate limits and no CORS. */
export const operatorHeaders = [
  'X-Request-Id',
  'X-Content-Type-Options',
  'X-Frame-Options',
  'Content-Security-Policy',
] as const;

/** The response headers of operations, without those of HTTP itself, of preflights and of documentation. */
export const responseHeaders = {
  ...universalHeaders,
  'Cache-Control': always('How long the response may be kept.', 'private, no-cache'),
  'Retry-After': always('Whole seconds to wait before the next attempt.', 42, { ...count, minimum: 1 }),
  'WWW-Authenticate': always('How to authenticate, and why authentication failed.', 'Bearer'),
  Allow: always('The methods that this address allows.', 'GET, HEAD, POST'),
  ETag: always('Validator of the body, for `If-None-Match` and `If-Match`.', '"Xq3o0cYhPz2mYy1mJx4yTA"'),
  Location: always('The address of the new resource.', '/v1/pets/42'),
  Link: sometimes(
    '`rel="next"`: the next page; absent on the last one.',
    '</v1/pets?limit=20&cursor=AwAAAAAAAAAqk0hUPrn5kq0tSQ>; rel="next"',
  ),
  NextLink: always(
    '`rel="next"`: the next page, which may still be empty.',
    '</v1/events?after=evt_0000000001G5cPz8&limit=20>; rel="next"',
  ),
  SuccessorLink: sometimes(
    '`rel="successor-version"`: what replaces this operation; on a failure also `rel="help"`.',
    '</v1/pets>; rel="successor-version"',
  ),
  HelpLink: always(
    '`rel="help"`: what the error code means and what to do.',
    '</docs/errors#invalid_body>; rel="help"',
  ),
  'Idempotent-Replayed': sometimes(
    '`true` if this is the stored response to an earlier request with this `Idempotency-Key`.',
    'true',
  ),
  Deprecation: sometimes('When the operation became deprecated (RFC 9745).', '@1764892800'),
  Sunset: sometimes('When the operation is removed (RFC 8594).', 'Thu, 05 Dec 2030 00:00:00 GMT'),
};

export type HeaderName = keyof typeof responseHeaders;

/** Returns references to the headers of a response: the universal headers of its port, then `names`. */
export function referToHeaders(
  names: readonly HeaderName[],
  universal: readonly string[] = Object.keys(universalHeaders),
) {
  return Object.fromEntries(
    [...universal, ...names].map((name) => [
      name.endsWith('Link') ? 'Link' : name,
      { $ref: `#/components/headers/${name}` },
    ]),
  );
}

const tags = { ...text, maxLength: 8_192, examples: ['"LXEWQrcmsEQBYnyp-6wy9c"'], 'x-stability': 'beta' };

/** The schemas of the request headers that operations read, besides `Authorization`. All of these headers are beta. */
export const requestHeaders = {
  'If-None-Match': { ...tags, description: 'Returns 304 if the body still has one of these `ETag`s.' },
  'If-Match': {
    ...tags,
    description: 'Returns 412 and changes nothing unless the animal still has one of these `ETag`s.',
  },
  'Idempotency-Key': {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    pattern: '^[!-~]+$',
    description:
      'A unique name for this request, kept for 24 hours. A retry with the same key and body returns the first response and adds nothing.',
    examples: ['9f6c1c1e-0c0b-4f5e-8a53-2f0f7f7f9a55'],
    'x-stability': 'beta',
  },
  Prefer: {
    ...tags,
    description: '`handling=strict` (RFC 7240) refuses unknown query parameters and fields.',
    examples: ['handling=strict'],
  },
};

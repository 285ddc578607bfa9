/** A header as OpenAPI describes it; `required` where every response bears it that names it. */
interface Header {
  readonly description: string;
  readonly required?: true;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly example: string | number;
}

function always(description: string, type: 'string' | 'integer', example: string | number): Header {
  return { description, required: true, schema: { type }, example };
}

function sometimes(description: string, example: string): Header {
  return { description, schema: { type: 'string' }, example };
}

/** Every header of ours that a response may bear, besides those of HTTP's own framing. */
export const responseHeaders = {
  'X-Request-Id': always("This request's id, which its line in the log bears too.", 'string', 'req_4f1c_7'),
  'X-Content-Type-Options': always('The content type is to be believed.', 'string', 'nosniff'),
  'X-Frame-Options': always('The response is shown in no frame.', 'string', 'DENY'),
  'Content-Security-Policy': always(
    'The same, as newer browsers have it.',
    'string',
    "frame-ancestors 'none'",
  ),
  'X-RateLimit-Limit': always('The limit that applies to the caller.', 'integer', 300),
  'X-RateLimit-Remaining': always('Requests left in the current window.', 'integer', 299),
  'X-RateLimit-Reset': always('Unix timestamp at which the limit resets.', 'integer', 1_798_891_260),
  'RateLimit-Policy': always(
    'The quota `q` of each window of `w` seconds.',
    'string',
    '"minute";q=300;w=60, "day";q=10000;w=86400',
  ),
  RateLimit: always(
    'What is left (`r`) of each window, and the seconds (`t`) until it resets.',
    'string',
    '"minute";r=299;t=60, "day";r=9999;t=86400',
  ),
  'Cache-Control': always('How long the response may be kept.', 'string', 'private, no-cache'),
  'Retry-After': {
    description: 'Whole seconds to wait before the next attempt.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 42,
  },
  'WWW-Authenticate': always('What to authenticate with, and why it failed.', 'string', 'Bearer'),
  Allow: always('The methods that the address knows.', 'string', 'GET, HEAD, POST'),
  ETag: always('Validator of the body, for `If-None-Match`.', 'string', '"Xq3o0cYhPz2mYy1mJx4yTA"'),
  Location: always("The new animal's address.", 'string', '/v1/pets/42'),
  Link: sometimes(
    '`rel="next"`: the page that follows; absent on the last.',
    '</v1/pets?limit=20&cursor=AwAAAAAAAAAqk0hUPrn5kq0tSQ>; rel="next"',
  ),
  SuccessorLink: sometimes(
    '`rel="successor-version"`: what serves in place of this operation.',
    '</v1/pets>; rel="successor-version"',
  ),
  'Idempotent-Replayed': sometimes(
    '`true` where an earlier request with this `Idempotency-Key` added the animal.',
    'true',
  ),
  Deprecation: sometimes('Since when the operation is deprecated (RFC 9745).', '@1764892800'),
  Vary: sometimes('`Origin` where the service lets pages of some origins call it.', 'Origin'),
  'Access-Control-Allow-Origin': sometimes(
    'The `Origin` of the request, where its pages may read the response.',
    'https://app.example.com',
  ),
  'Access-Control-Expose-Headers': sometimes(
    'Which headers these pages may read: all of ours.',
    'ETag, Link, Retry-After, X-Request-Id',
  ),
  Sunset: sometimes('When the operation is removed (RFC 8594).', 'Thu, 05 Dec 2030 00:00:00 GMT'),
} as const satisfies Readonly<Record<string, Header>>;

export type HeaderName = keyof typeof responseHeaders;

/** What every response may bear, whatever its status. */
export const universalHeaders = [
  'X-Request-Id',
  'X-Content-Type-Options',
  'X-Frame-Options',
  'Content-Security-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
  'Vary',
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
] as const satisfies readonly HeaderName[];

/** The headers of one response, those of every response first. */
export function referToHeaders(names: readonly HeaderName[]) {
  const all: readonly HeaderName[] = [...universalHeaders, ...names];
  return Object.fromEntries(
    all.map((name) => [name === 'SuccessorLink' ? 'Link' : name, { $ref: `#/components/headers/${name}` }]),
  );
}

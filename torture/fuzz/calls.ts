import fc, { type Arbitrary } from 'fast-check';
import { type Description, listOperations, resolve } from '../../test/http/openapi/description.ts';
import { bodiesFor } from './bodies.ts';
import { type Call, type KeyKind, keyKinds, knownEtag, type Part, type Place } from './call.ts';
import { partsFor } from './texts.ts';

interface ParameterNode {
  readonly name: string;
  readonly in: 'query' | 'header' | 'path';
  readonly schema: object;
}

const keys: Arbitrary<KeyKind> = fc.oneof(
  { weight: 14, arbitrary: fc.constant('ample' as const) },
  { weight: 3, arbitrary: fc.constantFrom(...keyKinds) },
);

const noise: Arbitrary<readonly Part[]> = fc.array(
  fc
    .tuple(
      fc.constantFrom(
        'Accept',
        'Accept-Language',
        'User-Agent',
        'Cookie',
        'Origin',
        'Range',
        'X-Noise',
        'Forwarded',
      ),
      fc.string({ maxLength: 60 }).map((text) => text.trim()),
    )
    .map(([name, text]) => ({ name, text, fault: null })),
  { maxLength: 2 },
);

/** Usually one part or none, rarely two. */
function few(parts: Arbitrary<Part>, often: number): Arbitrary<readonly Part[]> {
  return fc.oneof(
    { weight: 10 - often, arbitrary: fc.constant([]) },
    { weight: often, arbitrary: parts.map((part) => [part]) },
    { weight: 1, arbitrary: fc.tuple(parts, parts) },
  );
}

const foreignParameters = fc
  .tuple(
    fc.constantFrom('page', 'Limit', 'api_key', '__proto__', 'constructor', ''),
    fc.string({ maxLength: 9 }),
  )
  .map(([name, text]) => ({ name, text, fault: null }));

/** The parameters of a call. Only the service can make a cursor, so cursors come from its pages or are invalid. */
function parametersFor(description: Description, nodes: readonly ParameterNode[]) {
  const known = nodes.map(({ name, schema }) => {
    const parts = partsFor(description, name, schema);
    return name === 'cursor'
      ? few(
          parts.map((part) => ({ ...part, fault: 400 })),
          1,
        )
      : few(parts, 5);
  });
  return fc
    .tuple(...known, few(foreignParameters, 1))
    .map((lists) => judgeRepeats(lists.flat(), known.length > 0));
}

/** Marks repeated parameters of the description as faults. */
function judgeRepeats(parts: readonly Part[], isJudged: boolean): readonly Part[] {
  if (!isJudged) return parts;
  const counted = ['limit', 'status', 'categoryId', 'id', 'cursor'];
  return parts.map((part) => {
    const isRepeated =
      counted.includes(part.name) && parts.filter(({ name }) => name === part.name).length > 1;
    return isRepeated ? { ...part, fault: 400 } : part;
  });
}

const preferences = fc.oneof(
  { weight: 2, arbitrary: fc.constant('handling=strict') },
  fc.constantFrom('', 'handling=lenient', 'respond-async', 'handling', '=', ';;,', 'handling="'),
);

/** The headers of a call. Their values are visible ASCII, and spaces around them are lost. */
function headersFor(description: Description, nodes: readonly ParameterNode[]): Arbitrary<readonly Part[]> {
  const known = nodes.map(({ name, schema }) => {
    if (name === 'Prefer')
      return few(
        preferences.map((text) => ({ name, text, fault: null })),
        3,
      ).map(atMostOne);
    const parts = partsFor(description, name, schema).filter(({ text }) => isHeaderText(text));
    const pool = fc.integer({ min: 1, max: 6 }).map((n) => ({ name, text: `key-${n}`, fault: null }));
    const etag = fc.constant({ name, text: knownEtag, fault: null });
    return few(fc.oneof(name === 'Idempotency-Key' ? pool : etag, parts), 3).map(atMostOne);
  });
  return fc.tuple(...known, noise).map((lists) => lists.flat());
}

const atMostOne = (parts: readonly Part[]) => parts.slice(0, 1);

function isHeaderText(text: string): boolean {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$|^$/.test(text);
}

function placesFor(isCollection: boolean): Arbitrary<Place> {
  if (isCollection) return fc.constant({ kind: 'collection' });
  return fc.oneof(
    { weight: 4, arbitrary: fc.nat(1_000).map((choice) => ({ kind: 'made' as const, choice })) },
    {
      weight: 2,
      arbitrary: fc
        .oneof(
          fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
          fc.string({ unit: 'binary', minLength: 1 }),
        )
        .map((text) => ({ kind: 'id' as const, text })),
    },
  );
}

const strayPlaces: Arbitrary<Place> = fc.oneof(
  fc
    .constantFrom('/pets/%', '/pets/%zz', '/pets/%ff', '/%c0%af')
    .map((text) => ({ kind: 'malformed' as const, text })),
  fc
    .constantFrom(
      '',
      '/',
      '/pet',
      '/pets/1/toys',
      '//pets',
      '/../v1/pets',
      '/metrics',
      '/healthz',
      '/%2e%2e/pets',
      '/pets;a=1',
    )
    .map((text) => ({ kind: 'elsewhere' as const, text })),
);

/** Calls of every stable operation of a description, and other requests that clients may send. */
export function callsFor(description: Description): Arbitrary<Call> {
  const stable = [...listOperations(description)].filter(([, it]) => it['x-stability'] !== 'beta');
  const arbitraries = stable.map(([name, { parameters, requestBody }]) => {
    const nodes = parameters.map((node) => resolve<ParameterNode>(description, node));
    const bodySchema = requestBody?.content['application/json']?.schema;
    const own = bodySchema === undefined ? 'GET' : 'POST';
    const calls: Arbitrary<Call> = fc.record({
      method: own === 'GET' ? fc.constantFrom('GET', 'GET', 'GET', 'HEAD') : fc.constant(own),
      place: placesFor(name !== 'getPet'),
      key: keys,
      query: parametersFor(
        description,
        nodes.filter((node) => node.in === 'query'),
      ),
      followsLink: name === 'listPets' ? fc.option(fc.nat(1_000), { freq: 3 }) : fc.constant(null),
      headers: headersFor(
        description,
        nodes.filter((node) => node.in === 'header'),
      ),
      body: bodySchema === undefined ? fc.constant(null) : bodiesFor(description, bodySchema),
    });
    return { weight: 5, arbitrary: calls };
  });
  return fc.oneof(...arbitraries, { weight: 1, arbitrary: strayCalls });
}

/** Calls of no operation: unknown addresses and unknown methods. */
const strayCalls: Arbitrary<Call> = fc.record({
  method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'TRACE'),
  place: fc.oneof(strayPlaces, placesFor(true), placesFor(false)),
  key: keys,
  query: few(foreignParameters, 2),
  followsLink: fc.constant(null),
  headers: noise,
  body: fc.constant(null),
});

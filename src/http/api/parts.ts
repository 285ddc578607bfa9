import Type, { type TProperties, type TSchema } from 'typebox';
import { AppError, notFound } from '../../errors.ts';
import { computeEtag } from '../../etag.ts';
import { stringifyExactJson } from '../../exact-json.ts';
import type { Given } from '../../idempotency/answer-once.ts';
import { parseCanonicalInt64 } from '../../int64.ts';
import { int64Field } from '../../schema.ts';
import type { HeaderName } from '../openapi/headers.ts';
import type { Example, Examples, Operation, Outcome } from '../operation.ts';
import type { HeaderTexts } from '../response/answer.ts';
import type { Services } from './services.ts';

/** Number of items on a page if the request has no `limit`. */
export const defaultLimit = 20;
export const limitMax = 100;
const cursorRule = 'must be copied from the Link of a page of the same list, with the same filters';

export function example(summary: string, value: unknown): Example {
  return { summary, value };
}

/** Describes the successful response of an operation, which has no body if there is no schema. */
export function answer(
  status: number,
  description: string,
  body?: TSchema,
  examples?: Examples,
  headers: readonly HeaderName[] = [],
): Operation['answers'] {
  return { [status]: { description, headers, ...(body && { body }), ...(examples && { examples }) } };
}

/** Defines a path parameter. If `parse` returns null, `read` throws `not_found` with the message `unknown`. */
export function defineParameter<Id>(
  name: string,
  record: string,
  field: TSchema,
  parse: (text: string) => Id | null,
) {
  return {
    unknown: notFound(name, record).message,
    schema: Type.Object({ [name]: field }),
    read(params: Readonly<Record<string, string | undefined>>): Id {
      const id = parse(params[name] ?? '');
      if (id === null) throw notFound(name, record);
      return id;
    },
  };
}

/** Defines the path parameter `name`, an int64. `record` is the word for what it identifies. */
export function defineIdParameter(name: string, record: string, example: number, description?: string) {
  const field = int64Field(description ?? `Identifier of the ${record}.`);
  return defineParameter(name, record, { ...field, examples: [example] }, parseCanonicalInt64);
}

export function betaInt64(description: string, example: number) {
  return Type.Optional({ ...int64Field(description), examples: [example], 'x-stability': 'beta' });
}

/** The query parameter `limit` of a list. `items` names what the list contains. */
export function limitField(items: string) {
  return Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limitMax,
      default: defaultLimit,
      description: `Maximum number of ${items} returned.`,
      examples: [defaultLimit],
    }),
  );
}

interface ListDefinition<Filters extends TProperties> {
  readonly item: TSchema;
  readonly filters?: Filters;
  readonly cursor: string;
  /** True if the operation is stable and its cursor is not. */
  readonly hasBetaCursor?: boolean;
  readonly examples: Examples;
}

/** Returns the query and the response of the operation that lists `items`. */
export function definePages<Filters extends TProperties = Record<never, never>>(
  items: string,
  { item, filters, cursor, hasBetaCursor = false, examples }: ListDefinition<Filters>,
) {
  const cursorField = Type.String({
    minLength: 1,
    maxLength: 64,
    pattern: '^[A-Za-z0-9_-]+$',
    rule: cursorRule,
    description: 'Where the page begins: copied from the `Link` of the page before.',
    examples: [cursor],
    ...(hasBetaCursor && { 'x-stability': 'beta' }),
  });
  const body = Type.Array(item, { maxItems: limitMax });
  return {
    query: Type.Object({
      limit: limitField(items),
      ...(filters ?? ({} as Filters)),
      cursor: Type.Optional(cursorField),
    }),
    answers: answer(200, `A page of ${items}.`, body, examples, ['Link']),
  };
}

/** Query parameters in a fixed order. One that is null is left out. */
type QueryValues = Readonly<Record<string, string | bigint | readonly bigint[] | null>>;

/** A list of the API. A cursor is valid only for the list that it was written for. */
interface PagedList {
  readonly path: `/${string}`;
  /** The reader whose items the list contains, if readers see different items. */
  readonly of?: bigint | 'all';
  readonly filters?: QueryValues;
}

/**
 * Reads the page that a query asks for. `start` is null on the first page. `linkTo` returns the header with the link to
 * the page at `next`, or no header if `next` is null. Throws `invalid_parameter` for a cursor of another list.
 */
export function openPage<Position extends bigint | string = bigint>(
  { path, of, filters = {} }: PagedList,
  { limit = defaultLimit, cursor }: { readonly limit?: number; readonly cursor?: string },
  { cursors, baseUrl }: Pick<Services, 'cursors' | 'baseUrl'>,
) {
  const kept = writeQuery(filters);
  const list = `${path}${`${writeQuery({ of: of ?? null })}${kept}`.replace('&', '?')}`;
  // A list always writes its cursors with positions of one type.
  const start = cursor === undefined ? null : (cursors.read(cursor, list) as Position | null);
  if (cursor !== undefined && start === null) throw new AppError('invalid_parameter', `cursor ${cursorRule}`);
  return {
    limit,
    start,
    linkTo(next: Position | null): HeaderTexts {
      if (next === null) return {};
      const query = `limit=${limit}${kept}&cursor=${cursors.write(list, next)}`;
      return { link: `<${baseUrl}${path}?${query}>; rel="next"` };
    },
  };
}

/** Writes parameters as `&name=value`. Commas separate the values of a list. */
function writeQuery(values: QueryValues): string {
  let text = '';
  for (const [name, value] of Object.entries(values))
    if (value !== null)
      text += `&${name}=${Array.isArray(value) ? value.join() : encodeURIComponent(String(value))}`;
  return text;
}

/** Awaits the result of an operation and returns its outcome: the value as JSON, or no body with 204. */
export async function reply(status: 200 | 204, result: Promise<unknown>): Promise<Outcome> {
  const value = await result;
  return status === 204 ? { status } : { status, text: stringifyExactJson(value) };
}

/** Converts a first answer into an outcome with its `ETag`. The body stays the same, byte for byte. */
export function toOutcome({ answer, isReplayed }: Given, baseUrl: string): Outcome {
  const { status, location, body } = answer;
  const headers = { location: `${baseUrl}${location}`, etag: computeEtag(body) };
  return {
    status,
    text: body,
    headers: isReplayed ? { ...headers, 'idempotent-replayed': 'true' } : headers,
  };
}

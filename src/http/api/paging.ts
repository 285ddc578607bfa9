import Type from 'typebox';
import { AppError } from '../../errors.ts';
import type { HeaderTexts } from '../response/answer.ts';
import type { Services } from './operations.ts';

/** Number of items on a page if the request has no `limit`. */
export const defaultLimit = 20;
/** Maximum number of items on a page. */
export const limitMax = 100;
const cursorRule = 'must be copied from the Link of a page of the same list, with the same filters';

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

/** The query parameter `cursor` of a list. */
export function cursorField(example: string) {
  return Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: '^[A-Za-z0-9_-]+$',
      rule: cursorRule,
      description: 'Where the page begins: copied from the `Link` of the page before.',
      examples: [example],
    }),
  );
}

/** A list of the API. A cursor is valid only for the list that it was written for. */
export interface PagedList {
  readonly path: `/${string}`;
  /** The reader whose items the list contains, if readers see different items. */
  readonly of?: bigint | 'all';
  /** The filters of the request in a fixed order. An undefined value is no filter. */
  readonly filters?: Readonly<Record<string, string | bigint | readonly bigint[] | undefined>>;
}

interface PageQuery {
  readonly limit?: number;
  readonly cursor?: string;
}

/** One requested page of a list. */
export interface OpenedPage<Position> {
  readonly limit: number;
  /** The position of the first item. Null starts at the first page. */
  readonly start: Position | null;
  /** Returns the header with the link to the page at `next`. Returns no header if `next` is null: on the last page. */
  linkTo(next: Position | null): HeaderTexts;
}

/** Reads the page that a query asks for. Throws `invalid_parameter` for a cursor of another list. */
export function openPage<Position extends bigint | string = bigint>(
  { path, of, filters = {} }: PagedList,
  { limit = defaultLimit, cursor }: PageQuery,
  { cursors, baseUrl }: Pick<Services, 'cursors' | 'baseUrl'>,
): OpenedPage<Position> {
  const kept = writeQuery(filters);
  const list = joinQuery(path, writeQuery({ of }) + kept);
  // A list always writes its cursors with positions of one type.
  const start = cursor === undefined ? null : (cursors.read(cursor, list) as Position | null);
  if (cursor !== undefined && start === null) throw new AppError('invalid_parameter', `cursor ${cursorRule}`);
  return {
    limit,
    start,
    linkTo(next) {
      if (next === null) return {};
      const query = `limit=${limit}${kept}&cursor=${cursors.write(list, next)}`;
      return { link: `<${baseUrl}${path}?${query}>; rel="next"` };
    },
  };
}

/** Writes parameters as `&name=value`. Leaves out those that are undefined. Commas separate the values of a list. */
function writeQuery(parameters: NonNullable<PagedList['filters']>): string {
  let text = '';
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined)
      text += `&${name}=${Array.isArray(value) ? value.join() : encodeURIComponent(String(value))}`;
  return text;
}

function joinQuery(path: string, query: string): string {
  return query === '' ? path : `${path}?${query.slice(1)}`;
}

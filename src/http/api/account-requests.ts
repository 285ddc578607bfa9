import Type from 'typebox';
import { AppError, errorCodes, errorStatus } from '../../errors.ts';
import { readTime } from '../../format.ts';
import { countField, enumField, namedObject, nullable, timeField } from '../../schema.ts';
import type { RequestPlace } from '../../usage/own-requests.ts';
import { defineOperation } from '../operation.ts';
import { callingKey, keyIdField } from './keys.ts';
import { definePages, example, openPage } from './parts.ts';

/** Every status that a request of an account can be answered with. A slow request may have succeeded. */
const statuses = [
  ...[200, 201, 202, 204, 304],
  ...new Set(errorCodes.map((code) => errorStatus[code]).toSorted((one, other) => one - other)),
];

const text = (maxLength: number, description: string) =>
  Type.String({ maxLength, pattern: '^[^\\x00-\\x1f\\x7f]*$', description });

const RequestSchema = namedObject(
  'RecordedRequest',
  'A request that failed or was slow, or the last of those that share a row.',
  {
    at: timeField('When the request was answered.'),
    requestId: nullable(text(64, 'The `X-Request-Id` of its response.')),
    operation: nullable(text(200, 'Its method and path; null: there is no such operation.')),
    status: Type.Integer({ minimum: 100, maximum: 599, description: 'The HTTP status of its response.' }),
    code: nullable(text(64, 'The `code` of the error; null: it succeeded, and took over a second.')),
    message: nullable(text(300, 'The `message` of the error.')),
    durationMs: countField('How many milliseconds it took, the longest of those that share the row.'),
    keyId: nullable(keyIdField('The key that sent it; null: several keys share the row.')),
    count: countField('How many requests share the row.'),
  },
);

const timeRule = 'must be a time as in 2027-01-02T12:00:00Z (RFC 3339)';
const timeFilter = (description: string) =>
  Type.Optional(
    Type.String({
      format: 'date-time',
      maxLength: 40,
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)$',
      rule: timeRule,
      description,
      examples: ['2027-01-02T12:00:00Z'],
    }),
  );

const filters = {
  requestId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: '^\\w+$',
      description: 'Only the request with this `X-Request-Id`.',
      examples: ['req_4f1c09a2b7de_7'],
    }),
  ),
  status: Type.Optional(
    Type.Unsafe<number>({
      type: 'integer',
      enum: statuses,
      minimum: Math.min(...statuses),
      maximum: Math.max(...statuses),
      description: 'Only requests that were answered with this status.',
      examples: [409],
    }),
  ),
  code: Type.Optional({
    ...enumField(errorCodes, 'Only requests that failed with this code.'),
    examples: ['pet_unavailable'],
  }),
  since: timeFilter('Only requests at this time or later.'),
  until: timeFilter('Only requests before this time.'),
};

const refused = {
  at: '2027-01-02T12:00:00.000Z',
  requestId: 'req_4f1c09a2b7de_7',
  operation: 'POST /v1/orders',
  status: 409,
  code: 'pet_unavailable',
  message: 'petId: this animal is not available',
  durationMs: 3,
  keyId: callingKey.id,
  count: 1,
};
const limited = {
  ...refused,
  at: '2027-01-02T12:04:59.300Z',
  requestId: 'req_4f1c09a2b7de_2d',
  operation: 'GET /v1/pets',
  status: 429,
  code: 'rate_limit_exceeded',
  message: 'rate limit exceeded; retry after 42 s',
  durationMs: 1,
  count: 57,
};

/** Returns Unix milliseconds. Throws `invalid_parameter` for a time that no calendar has. */
function readFilter(name: 'since' | 'until', given: string | null): number | null {
  if (given === null) return null;
  const ms = readTime(given);
  if (ms === null) throw new AppError('invalid_parameter', `${name} ${timeRule}`);
  return ms;
}

export const listRequests = defineOperation('listRequests', 'GET /account/requests', null, {
  guide: 'errors',
  summary: 'List failed requests',
  description:
    'Returns a paginated list of the requests of the account that were answered with 400 or above, or took over a second, newest first. They are kept for 7 days and listed within a second or two. Any key may call it. Requests that a limit refused share one row for each key and hour, and so do further requests with one status and code beyond 100 rows of the account in an hour. A row that gets another request moves to the front, so a client that is reading the pages may miss it. At most 10,000 rows are kept; the oldest go first. Follow the `Link` with `rel="next"` until there is none.',
  ...definePages('requests', {
    item: RequestSchema,
    filters,
    cursor: 'BTE3OTg4OTEyMDAwMDAuN50LTHeYuT2xWC4',
    examples: {
      page: example('Refused requests that share a row, and one request', [limited, refused]),
      empty: example('No request failed', []),
    },
  }),

  async handle({ query, caller: { accountId } }, services) {
    const { requestId = null, status = null, code = null, since = null, until = null } = query;
    const filters = { requestId, status: status === null ? null : BigInt(status), code, since, until };
    const page = openPage<string>({ path: '/account/requests', of: accountId, filters }, query, services);
    const { items, next } = await services.listOwnRequests({
      ...{ accountId, requestId, status, code },
      sinceMs: readFilter('since', since),
      untilMs: readFilter('until', until),
      limit: page.limit,
      start: page.start === null ? null : readPlace(page.start),
    });
    return { status: 200, body: items, headers: page.linkTo(next && writePlace(next)) };
  },
});

const writePlace = ({ lastAtMs, id }: RequestPlace): string => `${lastAtMs}.${id}`;

/** The text is that of a cursor, which nobody can forge. */
function readPlace(text: string): RequestPlace {
  const [lastAtMs = 0n, id = 0n] = text.split('.').map(BigInt);
  return { lastAtMs, id };
}

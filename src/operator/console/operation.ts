import Type, { type Static, type TObject, type TProperties } from 'typebox';
import type { Audit } from '../../audit/audit-log.ts';
import { consoleActor } from '../../audit/audit-log.ts';
import type { Environment } from '../../config.ts';
import { AppError, OperatorError } from '../../errors.ts';
import type { Services } from '../../http/api/services.ts';
import { compileBody } from '../../http/bind-operation.ts';
import { compileQuery } from '../../http/request/query.ts';
import { makeAnswer, makeEmptyAnswer, securityHeaders } from '../../http/response/answer.ts';
import { type Call, type Method, plainRoute, type Route, type SignedIn } from '../../http/route.ts';
import { parseCanonicalInt64 } from '../../int64.ts';
import type { LookAtUsage } from '../../limits/counters.ts';
import { int64Field } from '../../schema.ts';
import type { Database } from '../../storage/database.ts';
import type { ChangeAs, Changes } from '../changes.ts';
import type { Health } from '../health.ts';
import { consolePath } from '../sessions.ts';
import type { Vitals } from './vitals.ts';

/** The dependencies of the console's operations. The commands call the same functions. */
export interface ConsoleServices
  extends Pick<Services, 'catalogue' | 'countInventory' | 'orders' | 'categories' | 'eventIds' | 'clock'> {
  readonly database: Database;
  readonly audit: Audit;
  readonly changeAs: ChangeAs;
  /** Reads the current usage of an account from the rate limit counters, which instances may share. */
  readonly look: LookAtUsage;
  readonly vitals: Vitals;
  readonly environment: Environment;
  readonly readHealth: () => Promise<Health>;
}

/** What an operation works with: the services, the session of the caller and the changes in the caller's name. */
type Context = ConsoleServices & Changes & { readonly signedIn: SignedIn };

/** Method and path of an operation. The path is relative to the console's API. */
type Address = `${Method} /${string}`;

/**
 * An operation of the console's own API. Only the pages of the console use this API. `Path` is the address with the
 * names of its parameters, and `Answer` the value that becomes the JSON of the response.
 */
export interface ConsoleOperation<
  Path extends Address = Address,
  Fields extends TProperties = TProperties,
  Answer = unknown,
> {
  /** Such as `GET /pets/{petId}`. */
  readonly address: Path;
  /** The parameters of the query of a GET, or the fields of the body. */
  readonly fields: Fields;
  handle(input: never, context: Context): Promise<Answer>;
}

/** The parameters of paths that are an int64, each with the word for what it identifies. The others are texts. */
const identified = { petId: 'animal', orderId: 'order', categoryId: 'category' } as const;

/** The names of the parameters in a path. */
export type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;

type Input<Path extends string, Fields extends TProperties> = {
  readonly [Name in ParameterOf<Path>]: Name extends keyof typeof identified ? bigint : string;
} & Static<TObject<Fields>>;

/** Declares an operation. `handle` gets parameters of the path and fields. Undefined becomes an empty 204. */
export function operation<const Path extends Address, Fields extends TProperties, Answer>(
  address: Path,
  fields: Fields,
  handle: (input: Input<Path, Fields>, context: Context) => Promise<Answer>,
): ConsoleOperation<Path, Fields, Answer> {
  return { address, fields, handle };
}

export const pageRows = 50;

/** An int64 to search for. A list also takes one as `before`: the `next` of the previous page. */
export const int64Filter = Type.Optional(int64Field('An int64.'));

/** A text to search for. PostgreSQL accepts no text with U+0000. */
export const textFilter = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^[^\\u0000]*$',
    rule: 'must have 1 to 255 characters and no U+0000',
  }),
);

export const noStore = ['cache-control', 'no-store'];

export const apiRoute = {
  ...plainRoute,
  announcement: noStore,
  securityHeaders: securityHeaders("default-src 'none'; frame-ancestors 'none'"),
} as const;

export function bindConsoleOperation(operation: ConsoleOperation, services: ConsoleServices): Route {
  const { address, fields } = operation;
  const [method, path] = address.split(' ') as [Method, string];
  const schema = Type.Object(fields);
  const hasBody = method !== 'GET' && Object.keys(fields).length > 0;
  return {
    ...apiRoute,
    method,
    path: `${consolePath}/api${path}`,
    access: 'console',
    readQuery: compileQuery(method === 'GET' ? schema : undefined),
    body: hasBody ? compileBody(schema) : null,
    async run(call) {
      const value = await handle(operation, call, services);
      if (value === undefined) return makeEmptyAnswer(204, noStore);
      // A browser would lose digits of a large number.
      const write = (_: string, member: unknown) => (typeof member === 'bigint' ? String(member) : member);
      return makeAnswer(200, JSON.stringify(value, write), noStore);
    },
  };
}

/** Converts an OperatorError into a response, so that the console shows the same message as the command line. */
async function handle(operation: ConsoleOperation, call: Call, services: ConsoleServices) {
  const { signedIn, params, query, body } = call;
  if (signedIn === null) throw new Error('a route of the console was called without a session');
  const parameters = Object.fromEntries(Object.entries(params).map(readParameter));
  const input = { ...(query as object), ...(body as object | null), ...parameters };
  // The audit log also names the user who created the link, because the store deletes expired sessions.
  const changes = services.changeAs(consoleActor(signedIn.madeBy, signedIn.id));
  try {
    return await operation.handle(input as never, { ...services, ...changes, signedIn });
  } catch (error) {
    if (error instanceof OperatorError) throw new AppError('not_done', error.message, { cause: error });
    throw error;
  }
}

/** Throws `not_found` for a text that identifies nothing. */
function readParameter([name, text = '']: [name: string, text: string | undefined]) {
  const record = (identified as Readonly<Record<string, string>>)[name];
  const id = record === undefined ? text : parseCanonicalInt64(text);
  // No stored text has a U+0000, and PostgreSQL accepts none in a query.
  if (id === null || text.includes('\0'))
    throw new AppError('not_found', `there is no ${record ?? 'record'} with this identifier`);
  return [name, id] as const;
}

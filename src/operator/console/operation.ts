import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import type { Audit } from '../../audit/audit-log.ts';
import { consoleActor } from '../../audit/audit-log.ts';
import type { Environment } from '../../config.ts';
import { AppError, OperatorError } from '../../errors.ts';
import { stringifyExactJson } from '../../exact-json.ts';
import { readTime, timeRule } from '../../format.ts';
import type { Services } from '../../http/api/services.ts';
import { bindOperation, type Surface } from '../../http/bind-operation.ts';
import { defineOperation, type Operation } from '../../http/operation.ts';
import { securityHeaders } from '../../http/response/answer.ts';
import { type Call, type Method, plainRoute, type Route, type SignedIn } from '../../http/route.ts';
import { parseCanonicalInt64 } from '../../int64.ts';
import type { Instances } from '../../jobs/instances.ts';
import type { LookAtUsage } from '../../limits/counters.ts';
import type { LogSwitch } from '../../observability/log-changes.ts';
import type { Role } from '../../operator-role.ts';
import { int64Field } from '../../schema.ts';
import type { Database } from '../../storage/database.ts';
import type { ChangeAs, Changes } from '../changes.ts';
import type { Health } from '../health.ts';
import { consolePath } from '../sessions.ts';
import type { Vitals } from './vitals.ts';

/** What the operations of the operator's port work with. The commands call the same functions. */
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
  readonly instances: Pick<Instances, 'own' | 'list'>;
  readonly logSwitch: Pick<LogSwitch, 'read'>;
  /** Returns the addresses of the operations that a role may call. */
  readonly listActs: (role: Role | null) => readonly string[];
}

/** What an operation works with: the services, the session of the caller and the changes in the caller's name. */
type Context = ConsoleServices & Changes & { readonly signedIn: SignedIn };

/** Method and path of an operation. The path is relative to the console's API. */
type Address = `${Method} /${string}`;

/**
 * An operation of the operator's port. The pages of the console call it below `/console/api`, and programs below `/ops/v1`.
 * `Path` is the address with the names of its parameters, and `Json` the value that becomes the JSON of the response.
 */
export interface ConsoleOperation<
  Path extends Address = Address,
  Fields extends TProperties = TProperties,
  Json = unknown,
> extends Operation {
  /** Such as `GET /pets/{petId}`. */
  readonly address: Path;
  readonly role: Role;
  /** The parameters of the query of a GET, or the fields of the body. */
  readonly fields: Fields;
  act(input: never, context: Context): Promise<Json>;
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

interface About<Fields extends TProperties> {
  /** Such as `List the accounts`. */
  readonly summary: string;
  /** What the summary does not say. */
  readonly description?: string;
  readonly fields?: Fields;
  /** The schema of the response. Absent: an empty 204. */
  readonly answer?: TSchema;
}

/** Declares an operation and the role that it needs. `act` gets the parameters of the path and the fields. */
export function operation<
  const Path extends Address,
  Json,
  Fields extends TProperties = Record<never, never>,
>(
  id: string,
  address: Path,
  role: Role,
  { summary, description = `${summary}.`, fields = {} as Fields, answer }: About<Fields>,
  act: (input: Input<Path, Fields>, context: Context) => Promise<Json>,
): ConsoleOperation<Path, Fields, Json> {
  const schema = Type.Object(fields);
  const params = describeParameters(address);
  const isRead = address.startsWith('GET ');
  // An act without fields takes an empty body, so that a field which it does not know is refused.
  const takesBody = !isRead && !address.startsWith('DELETE ');
  const declared = defineOperation<TObject, TObject, ConsoleServices, null>(id, address, null, {
    summary,
    description,
    role,
    ...(params !== null && { params }),
    ...(isRead && { query: schema }),
    ...(takesBody && { body: schema, isBodyOptional: Object.keys(fields).length === 0 }),
    isNeverStored: true,
    answers: answer === undefined ? { 204: done } : { 200: { description: 'Done.', body: answer } },
    failures: { not_done: 'there is no account "Zoo": "accounts list" shows all accounts' },
    async handle(call, services) {
      const value = await run(act as ConsoleOperation['act'], call, services);
      return answer === undefined ? { status: 204 } : { status: 200, body: value };
    },
  });
  return { ...declared, role, address, fields, act };
}

const done = { description: 'Done.' };

/** Returns the parameters of a path, or null if it has none. */
function describeParameters(address: string) {
  const names = Array.from(address.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);
  const fields = names.map((name) => {
    const record = recordOf(name);
    return [
      name,
      record === undefined ? Type.String({ maxLength: 255 }) : int64Field(`Identifier of the ${record}.`),
    ];
  });
  const record = recordOf(names[0] ?? '') ?? 'record';
  const unknown = `there is no ${record} with this identifier`;
  return names.length === 0 ? null : { schema: Type.Object(Object.fromEntries(fields)), unknown };
}

function recordOf(parameter: string): string | undefined {
  return (identified as Readonly<Record<string, string>>)[parameter];
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

/** A time in every form that the console prints. */
export const timeFilter = Type.Optional(Type.String({ maxLength: 40 }));

/** Returns the Unix milliseconds of a `timeFilter`. Throws `invalid_parameter` if there is no such time. */
function readFilter(text: string | undefined, field: string): number | undefined {
  if (text === undefined) return undefined;
  const ms = readTime(text);
  if (ms === null) throw new AppError('invalid_parameter', `${field} must be ${timeRule}`);
  return ms;
}

/** Returns the range of a list, in Unix milliseconds. Throws `invalid_parameter` if a time is invalid. */
export const readRange = ({
  since,
  until,
}: { readonly [Name in 'since' | 'until']?: string | undefined }) => ({
  sinceMs: readFilter(since, 'since'),
  untilMs: readFilter(until, 'until'),
});

export const noStore = ['cache-control', 'no-store'];

const apiSecurity = securityHeaders("default-src 'none'; frame-ancestors 'none'");

export const apiRoute = { ...plainRoute, announcement: noStore, securityHeaders: apiSecurity } as const;

/** The operations as the pages of the console call them. A browser would lose digits of a large number. */
const consoleSurface: Surface = {
  prefix: `${consolePath}/api`,
  access: 'console',
  securityHeaders: apiSecurity,
  isStrict: true,
  write: (value) =>
    JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member)),
};

export const operatorsApiPath = '/ops/v1';

/** The operations as programs call them. */
const operatorsSurface: Surface = {
  prefix: operatorsApiPath,
  access: 'token',
  securityHeaders: apiSecurity,
  isStrict: true,
  write: stringifyExactJson,
};

/** Returns the two routes of an operation: for the pages of the console, and for programs. */
export function bindConsoleOperation(operation: ConsoleOperation, services: ConsoleServices): [Route, Route] {
  const given = { ...services, baseUrl: operatorsApiPath };
  return [bindOperation(operation, given, consoleSurface), bindOperation(operation, given, operatorsSurface)];
}

/** Converts an OperatorError into a response, so that the console shows the same message as the command line. */
async function run(act: ConsoleOperation['act'], call: Omit<Call, 'caller'>, services: ConsoleServices) {
  const { signedIn, params, query, body } = call;
  if (signedIn === null) throw new Error('a route of an operator was called without an operator');
  const parameters = Object.fromEntries(Object.entries(params).map(readParameter));
  const input = { ...(query as object), ...(body as object | null), ...parameters };
  // The audit log also has the name, because the store deletes expired sessions.
  const changes = services.changeAs(consoleActor(signedIn.name, signedIn.id));
  try {
    return await act(input as never, { ...services, ...changes, signedIn });
  } catch (error) {
    if (error instanceof OperatorError) throw new AppError('not_done', error.message, { cause: error });
    throw error;
  }
}

/** Throws `not_found` for a text that identifies nothing. */
function readParameter([name, text = '']: [name: string, text: string | undefined]) {
  const record = recordOf(name);
  const id = record === undefined ? text : parseCanonicalInt64(text);
  // No stored text has a U+0000, and PostgreSQL accepts none in a query.
  if (id === null || text.includes('\0'))
    throw new AppError('not_found', `there is no ${record ?? 'record'} with this identifier`);
  return [name, id] as const;
}

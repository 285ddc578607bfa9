import Type, { type Static, type TObject, type TProperties } from 'typebox';
import { consoleActor } from '../../audit/audit-entry.ts';
import type { Audit } from '../../audit/audit-log.ts';
import type { Environment } from '../../config.ts';
import { AppError, OperatorError } from '../../errors.ts';
import type { Services } from '../../http/api/operations.ts';
import { compileBody } from '../../http/bind-operation.ts';
import { compileQuery } from '../../http/request/query.ts';
import { type Answer, makeAnswer, makeEmptyAnswer, securityHeaders } from '../../http/response/answer.ts';
import { type Call, type Method, plainRoute, type Route, type SignedIn } from '../../http/route.ts';
import type { LookAtUsage } from '../../limits/counters.ts';
import type { Database } from '../../storage/database.ts';
import type { ChangeAs, Changes } from '../changes.ts';
import type { Health } from '../health-routes.ts';
import { consolePath } from './site.ts';
import type { Vitals } from './vitals.ts';

/** The dependencies of the console's operations. The commands call the same functions. */
export interface ConsoleServices
  extends Pick<Services, 'catalogue' | 'countInventory' | 'orders' | 'categories' | 'eventIds' | 'clock'>,
    Pick<Changes, 'accounts' | 'keyring' | 'bans' | 'allWebhooks'> {
  readonly database: Database;
  readonly audit: Audit;
  readonly changeAs: ChangeAs;
  /** Reads the current usage of an account from the rate limit counters, which instances may share. */
  readonly look: LookAtUsage;
  readonly vitals: Vitals;
  readonly environment: Environment;
  readonly readHealth: () => Promise<Health>;
}

/** What an operation works with: the services, the session of the caller and the changes that it can make. */
interface Context extends ConsoleServices {
  readonly signedIn: SignedIn;
  readonly changes: Changes;
}

/** Method and path of an operation. The path is relative to the console's API. */
type Address = `${Method} /${string}`;

/** An operation of the console's own API. Only the pages of the console use this API. */
export interface ConsoleOperation {
  /** Such as `GET /pets/{petId}`. */
  readonly address: Address;
  /** The parameters of the query of a GET, or the fields of the body. */
  readonly fields: TProperties;
  handle(input: never, context: Context): Promise<unknown>;
}

type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;

type Input<Path extends string, Fields extends TProperties> = Readonly<Record<ParameterOf<Path>, string>> &
  Static<TObject<Fields>>;

/**
 * Declares an operation. `handle` gets the parameters of the path as texts, together with the fields. It returns the
 * response body as a JSON value. Bigints are written as texts. Undefined means a 204 without a body.
 */
export function operation<const Path extends Address, Fields extends TProperties>(
  address: Path,
  fields: Fields,
  handle: (input: Input<Path, Fields>, context: Context) => Promise<unknown>,
): ConsoleOperation {
  return { address, fields, handle };
}

const apiSecurity = securityHeaders("default-src 'none'; frame-ancestors 'none'");
const noStore = ['cache-control', 'no-store'];

/** The options that all routes of the console's API share. */
export const apiRoute = { ...plainRoute, announcement: noStore, securityHeaders: apiSecurity } as const;

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
    run: async (call) => toAnswer(await handle(operation, call, services)),
  };
}

/** Converts an OperatorError into a response, so that the console shows the same message as the command line. */
async function handle(operation: ConsoleOperation, call: Call, services: ConsoleServices) {
  const { signedIn, params, query, body } = call;
  if (signedIn === null) throw new Error('a route of the console was called without a session');
  // No stored text has a U+0000, and PostgreSQL accepts none in a query.
  if (Object.values(params).some((text) => text?.includes('\0')))
    throw new AppError('not_found', 'there is no such record');
  // The audit log also names the user who created the link, because the store deletes expired sessions.
  const changes = services.changeAs(consoleActor(signedIn.madeBy, signedIn.id));
  const input = { ...(query as object), ...(body as object | null), ...params };
  try {
    return await operation.handle(input as never, { ...services, signedIn, changes });
  } catch (error) {
    if (error instanceof OperatorError) throw new AppError('not_done', error.message, { cause: error });
    throw error;
  }
}

/** Writes every bigint as a text, because a browser would lose digits of a large number. */
function toAnswer(value: unknown): Answer {
  if (value === undefined) return makeEmptyAnswer(204, noStore);
  const text = JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member));
  return makeAnswer(200, text, noStore);
}

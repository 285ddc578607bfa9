import type { Static, TObject } from 'typebox';
import { consoleActor } from '../../audit/audit-entry.ts';
import { AppError, OperatorError } from '../../errors.ts';
import { compileBody } from '../../http/bind-operation.ts';
import type { NoFields } from '../../http/operation.ts';
import { compileQuery } from '../../http/request/query.ts';
import { type Answer, makeAnswer, makeEmptyAnswer, securityHeaders } from '../../http/response/answer.ts';
import { type Call, type Method, plainRoute, type Route, type SignedIn } from '../../http/route.ts';
import type { Changes } from '../changes.ts';
import type { ConsoleServices } from './services.ts';
import { consolePath } from './site.ts';

/** A call of a console operation, with the session of the caller and the changes that it can make. */
type ConsoleCall<Query, Body> = Call<Query, Body> & {
  readonly signedIn: SignedIn;
  readonly changes: Changes;
};

/** An operation of the console's own API. Only the pages of the console use this API. */
export interface ConsoleOperation<Query extends TObject, Body extends TObject> {
  readonly method: Method;
  /** The path relative to the console's API, such as `/pets/{petId}`. */
  readonly path: `/${string}`;
  readonly query?: Query;
  readonly body?: Body;
  /** Returns the response body as a JSON value. Bigints are written as texts. Undefined means a 204 without a body. */
  handle(call: ConsoleCall<Static<Query>, Static<Body>>, services: ConsoleServices): Promise<unknown>;
}

/** A ConsoleOperation with erased types. `defineConsoleOperation` has checked the types of query and body. */
export type AnyConsoleOperation = ConsoleOperation<TObject, TObject>;

export function defineConsoleOperation<Query extends TObject = NoFields, Body extends TObject = NoFields>(
  definition: ConsoleOperation<Query, Body>,
): AnyConsoleOperation {
  return definition as unknown as AnyConsoleOperation;
}

const apiSecurity = securityHeaders("default-src 'none'; frame-ancestors 'none'");
const noStore = ['cache-control', 'no-store'];

/** The options that all routes of the console's API share. */
export const apiRoute = { ...plainRoute, announcement: noStore, securityHeaders: apiSecurity } as const;

export function bindConsoleOperation(operation: AnyConsoleOperation, services: ConsoleServices): Route {
  const { method, path, query, body } = operation;
  return {
    ...apiRoute,
    method,
    path: `${consolePath}/api${path}`,
    access: 'console',
    readQuery: compileQuery(query),
    body: body === undefined ? null : compileBody(body),
    run: async (call) => toAnswer(await handle(operation, call, services)),
  };
}

/** Converts an OperatorError into a response, so that the console shows the same message as the command line. */
async function handle(operation: AnyConsoleOperation, call: Call, services: ConsoleServices) {
  const { signedIn } = call;
  if (signedIn === null) throw new Error('a route of the console was called without a session');
  if (Object.values(call.params).some(hasNul)) throw new AppError('not_found', 'there is no such record');
  // The audit log also names the user who created the link, because the store deletes expired sessions.
  const changes = services.changeAs(consoleActor(signedIn.madeBy, signedIn.id));
  try {
    return await operation.handle({ ...call, signedIn, changes } as never, services);
  } catch (error) {
    if (error instanceof OperatorError) throw new AppError('not_done', error.message, { cause: error });
    throw error;
  }
}

/** True if a text has a U+0000. No stored text has one, and PostgreSQL accepts none in a query. */
function hasNul(text: string | undefined): boolean {
  return text?.includes('\0') === true;
}

/** Writes every bigint as a text, because a browser would lose digits of a large number. */
export function toAnswer(value: unknown): Answer {
  if (value === undefined) return makeEmptyAnswer(204, noStore);
  const text = JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member));
  return makeAnswer(200, text, noStore);
}

import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, Scope } from '../accounts/account.ts';
import type { Idempotency } from '../idempotency/answer-once.ts';
import type { Usage } from '../limits/rules/decision.ts';
import type { Role } from '../operator-role.ts';
import type { Answer, HeaderList } from './response/answer.ts';
import type { Deprecation } from './response/deprecation.ts';

/** The methods that a route may have. A GET route also answers HEAD. */
export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type Method = (typeof methods)[number];

export function listMethods(routes: readonly Route[]): string[] {
  return [...new Set(routes.flatMap(methodsOf))].sort();
}

export function methodsOf({ method }: Route): (Method | 'HEAD')[] {
  return method === 'GET' ? [method, 'HEAD'] : [method];
}

/**
 * Who may use a path, and which count its requests have:
 *
 * - `key`: clients with an API key.
 * - `anyone`: an unknown path outside the API. A request with a valid key counts for its account.
 * - `reader`: the documentation, with a count of its own for each address.
 * - `operator`, `visitor`, `console`, `token`: on the operator's port, without counts, anyone who can reach it, anyone who
 *   opens the console in a browser, an operator who is signed in to it, and a program with the token of an operator.
 */
export type Access = 'key' | 'anyone' | 'reader' | 'operator' | 'visitor' | 'console' | 'token';

export interface SignedIn {
  /** The id of the session or of the token. */
  readonly id: string;
  readonly name: string;
  /** Null if no operator has the name. */
  readonly role: Role | null;
}

export interface Call<Query = unknown, Body = unknown, Who = Caller | null> {
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: Query;
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
  readonly caller: Who;
  /** What the account, or without a caller the address, has used after this request. Null if it is not counted. */
  readonly usage: Usage | null;
  /** Null unless the access of the route is `console` or `token`. */
  readonly signedIn: SignedIn | null;
  /** Null if the request has no `Idempotency-Key` or the route ignores the header. */
  readonly idempotency: Idempotency | null;
  /** Calls the listener once the client has disconnected or the response is sent. */
  readonly onGone: (listener: () => void) => void;
  /** Notes for how long the response is held back because the client asked for it. Its duration is without this time. */
  readonly noteHeld: (ms: number) => void;
}

export interface BodyReader {
  /** True if the body may be absent. If it is absent, `parse` is not called and the body is null. */
  readonly isOptional: boolean;
  /** Called before the body is read. Throws AppError if the route does not accept the media type. */
  checkType(headers: IncomingHttpHeaders): void;
  /** Returns the parsed and validated body. Throws AppError. If `isStrict`, unknown fields are an error. */
  parse(bytes: Buffer, isStrict: boolean): unknown;
}

export interface Route {
  readonly method: Method;
  /** As in OpenAPI: `/v1/pets/{petId}`. */
  readonly path: string;
  readonly access: Access;
  /** The required scope, or a list of which any one is enough. */
  readonly scope: Scope | readonly Scope[] | null;
  /** The role that an operator needs. Null: none, or the route is not for operators. */
  readonly role: Role | null;
  /** From `removedAtMs` on, the route answers 410. Null if no removal is planned. */
  readonly deprecation: Deprecation | null;
  /** Headers that every response of the route has, including errors, such as those that announce a deprecation. */
  readonly announcement: HeaderList;
  /** Security headers for browsers. Null for the defaults (`securityHeaders` in answer.ts). */
  readonly securityHeaders: HeaderList | null;
  readonly isCached: boolean;
  /** The operation id to which an `Idempotency-Key` belongs. Null if the route ignores the header. */
  readonly idempotentOperation: string | null;
  /** Returns the parsed and validated query. Throws AppError. If `isStrict`, unknown parameters are an error. */
  readQuery(text: string, isStrict: boolean): unknown;
  /** Null if the route takes no body. A body in the request is then ignored. */
  readonly body: BodyReader | null;
  run(call: Call): Promise<Answer>;
}

/** What a route outside the API has: no scope, no query, no body, and nothing that is stored. */
export const plainRoute = {
  scope: null,
  role: null,
  deprecation: null,
  announcement: [],
  securityHeaders: null,
  isCached: false,
  idempotentOperation: null,
  readQuery: () => null,
  body: null,
} as const;

/** Returns a GET route outside the API, such as a documentation page or `/metrics`. It ignores its query. */
export function createPageRoute(
  path: string,
  access: Access,
  securityHeaders: HeaderList | null,
  answer: (call: Call) => Answer | Promise<Answer>,
): Route {
  return { ...plainRoute, method: 'GET', path, access, securityHeaders, run: async (call) => answer(call) };
}

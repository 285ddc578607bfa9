import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, Scope } from '../accounts/account.ts';
import type { Idempotency } from '../idempotency/answer-once.ts';
import type { Usage } from '../limits/rules/decision.ts';
import type { Answer, HeaderList } from './response/answer.ts';
import type { Deprecation } from './response/deprecation.ts';

/** The methods that a route may have. A GET route also answers HEAD. */
export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type Method = (typeof methods)[number];

/** Returns the methods of all routes, sorted and without duplicates. */
export function listMethods(routes: readonly Route[]): string[] {
  return [...new Set(routes.flatMap(methodsOf))].sort();
}

export function methodsOf({ method }: Route): (Method | 'HEAD')[] {
  return method === 'GET' ? [method, 'HEAD'] : [method];
}

/**
 * The access level of a path. The access level also decides which count the rate limit uses.
 *
 * - `key`: clients with an API key.
 * - `anyone`: an unknown path outside the API. No key is needed, but a request with a valid key counts for its account.
 * - `reader`: the documentation. Its requests have a separate count for each address.
 *
 * The operator's port has no rate limits:
 *
 * - `operator`: anyone who can reach the port.
 * - `visitor`: anyone who opens the console in a browser.
 * - `console`: an operator who is signed in to the console.
 */
export type Access = 'key' | 'anyone' | 'reader' | 'operator' | 'visitor' | 'console';

/** An operator who is signed in to the console. */
export interface SignedIn {
  /** Session id. */
  readonly id: string;
  /** The person who created the sign-in link of the session. */
  readonly madeBy: string;
}

/** A parsed request for a route. */
export interface Call<Query = unknown, Body = unknown, Who = Caller | null> {
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: Query;
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
  readonly caller: Who;
  /**
   * The rate limit usage of the account after this request. Without a caller, the usage of the address. Null if the
   * request is not counted.
   */
  readonly usage: Usage | null;
  /** Null unless the access of the route is `console`. */
  readonly signedIn: SignedIn | null;
  /** Null if the request has no `Idempotency-Key` or the route ignores the header. */
  readonly idempotency: Idempotency | null;
  /** Registers a listener that is called once the client has disconnected or the response is sent. */
  readonly onGone: (listener: () => void) => void;
  /**
   * Records how many milliseconds the response is held back because the client asked for it. Logs and metrics subtract
   * this time from the duration of the request.
   */
  readonly noteHeld: (ms: number) => void;
}

/** Validates and parses the body of a request. */
export interface BodyReader {
  /** True if the body may be absent. If it is absent, `parse` is not called and the body is null. */
  readonly isOptional: boolean;
  /** Called before the body is read. Throws AppError if the route does not accept the media type. */
  checkType(headers: IncomingHttpHeaders): void;
  /** Returns the parsed and validated body. Throws AppError. If `isStrict`, unknown fields are an error. */
  parse(bytes: Buffer, isStrict: boolean): unknown;
}

/** One method of one path, with everything that the pipeline needs to run it. */
export interface Route {
  readonly method: Method;
  /** As in OpenAPI: `/v1/pets/{petId}`. */
  readonly path: string;
  readonly access: Access;
  /** The required scope. If it is a list, any one of its scopes is enough. Null requires no scope. */
  readonly scope: Scope | readonly Scope[] | null;
  /** From `removedAtMs` on, the route answers 410. Null if no removal is planned. */
  readonly deprecation: Deprecation | null;
  /** Headers that every response of the route has, including errors, such as those that announce a deprecation. */
  readonly announcement: HeaderList;
  /** Security headers for browsers. Null for the defaults (`securityHeaders` in answer.ts). */
  readonly securityHeaders: HeaderList | null;
  /** True if the response cache stores the responses. */
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
  deprecation: null,
  announcement: [],
  securityHeaders: null,
  isCached: false,
  idempotentOperation: null,
  readQuery: () => null,
  body: null,
} as const;

/**
 * Returns a GET route that is not part of the API and ignores its query, such as a documentation page or `/metrics`.
 */
export function createPageRoute(
  path: string,
  access: Access,
  securityHeaders: HeaderList | null,
  answer: (call: Call) => Answer | Promise<Answer>,
): Route {
  return { ...plainRoute, method: 'GET', path, access, securityHeaders, run: async (call) => answer(call) };
}

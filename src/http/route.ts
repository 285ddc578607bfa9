import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, Scope } from '../accounts/account.ts';
import type { Idempotency } from '../idempotency/first-answer.ts';
import type { Usage } from '../limits/rules/decision.ts';
import type { PetSelection } from '../pets/pet-selection.ts';
import type { Soon } from '../soon.ts';
import type { Answer } from './response/answer.ts';

/** The methods that a route may have. A GET route also answers HEAD. */
export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** One of `methods`. */
export type Method = (typeof methods)[number];

/** All methods of some routes, sorted. */
export function listMethods(routes: readonly Route[]): string[] {
  return [...new Set(routes.flatMap(methodsOf))].sort();
}

/** The methods that a route answers. */
export function methodsOf({ method }: Route): (Method | 'HEAD')[] {
  return method === 'GET' ? [method, 'HEAD'] : [method];
}

/**
 * Who may call an address, and which count its requests use. `key`: clients with an API key. `anyone`: an unknown
 * address that is not part of the interface; a valid key still counts. `reader`: readers of the documentation, which
 * has its own count.
 *
 * The operator's port counts nothing. `operator`: anyone who can reach it. `visitor`: a browser on the console's
 * address. `console`: an operator who is signed in there.
 */
export type Access = 'key' | 'anyone' | 'reader' | 'operator' | 'visitor' | 'console';

/** An operator who is signed in to the console. */
export interface SignedIn {
  /** The id of the session. */
  readonly id: string;
  /** The person who created the sign-in link of the session. */
  readonly madeBy: string;
}

/** The parsed request that a route handles. */
export interface Call<Query = unknown, Body = unknown, Who = Caller | null> {
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: Query;
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
  readonly caller: Who;
  /** What the caller's account has used, including this request. Null if the request does not count for an account. */
  readonly usage: Usage | null;
  /** Null unless the access of the route is `console`. */
  readonly signedIn: SignedIn | null;
  /** Null if the request has no `Idempotency-Key`, or the route does not read it. */
  readonly idempotency: Idempotency | null;
  /** Calls a listener when the client has disconnected or the answer is sent. */
  readonly onGone: (listener: () => void) => void;
}

/** The answer to a call, and the data that it depends on, if the cache may keep it. */
export interface Reply {
  readonly answer: Answer;
  readonly dependsOn: PetSelection | null;
  /** How long the answer waited because the client asked for it, in milliseconds. */
  readonly heldMs?: number;
}

/** Reads the body of a route. */
export interface BodyReader {
  /** Whether the body may be left out. Then `parse` is not called and the body is null. */
  readonly isOptional: boolean;
  /** Checks the media type before the body is read. Throws AppError if the route does not accept it. */
  checkType(headers: IncomingHttpHeaders): void;
  /** The parsed and validated body. Throws AppError. */
  parse(bytes: Buffer, isStrict: boolean): unknown;
}

/** One method of one address, which the pipeline can run. */
export interface Route {
  readonly method: Method;
  /** As in OpenAPI: `/v1/pets/{petId}`. */
  readonly path: string;
  readonly access: Access;
  /** The required scope. Any one of several is enough; null requires none. */
  readonly scope: Scope | readonly Scope[] | null;
  /** When the route begins to answer 410, in Unix milliseconds. Null if it stays. */
  readonly removedAtMs: number | null;
  /** Header lines of every answer of the route, including failures. */
  readonly announcement: string;
  /** Security headers for browsers. Null stands for the default ones (security-headers.ts). */
  readonly securityLines: string | null;
  /** Whether the response cache keeps its answers. */
  readonly isCached: boolean;
  /** The operation that an `Idempotency-Key` applies to. Null if the route does not read it. */
  readonly idempotentOperation: string | null;
  /** The parsed and validated query. Throws AppError. */
  readQuery(text: string, isStrict: boolean): unknown;
  /** Null if the route reads no body. A body that arrives is ignored. */
  readonly body: BodyReader | null;
  run(call: Call): Soon<Reply>;
}

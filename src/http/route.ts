import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, Scope } from '../accounts/account.ts';
import type { Idempotency } from '../idempotency/first-answer.ts';
import type { PetSelection } from '../pets/pet-selection.ts';
import type { Soon } from '../soon.ts';
import type { Answer } from './response/answer.ts';

/** The methods that a route may have; HEAD comes with GET. */
export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** One of `methods`. */
export type Method = (typeof methods)[number];

/** All methods of some routes, in alphabetical order. */
export function listMethods(routes: readonly Route[]): string[] {
  return [...new Set(routes.flatMap(methodsOf))].sort();
}

/** The methods that a route answers. */
export function methodsOf({ method }: Route): (Method | 'HEAD')[] {
  return method === 'GET' ? [method, 'HEAD'] : [method];
}

/**
 * Who is answered at an address, and whose count a request spends. `key`: who has an API key. `anyone`: an address that
 * is unknown and not part of the interface; a key counts all the same. `reader`: readers of the documentation, which has
 * a count of its own. `operator`: the operator's port, which counts nothing.
 */
export type Access = 'key' | 'anyone' | 'reader' | 'operator';

/** What a route is called with. */
export interface Call<Query = unknown, Body = unknown, Who = Caller | null> {
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: Query;
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
  readonly caller: Who;
  /** Null if the request has no `Idempotency-Key`, or the route does not read it. */
  readonly idempotency: Idempotency | null;
  /** Calls a listener once the client has gone away, or has been answered. */
  readonly onGone: (listener: () => void) => void;
}

/** An answer to a call, and what it depends on, if it may be kept. */
export interface Reply {
  readonly answer: Answer;
  readonly dependsOn: PetSelection | null;
  /** How long the client had it wait on purpose. */
  readonly heldMs?: number;
}

/** How a route reads its body. */
export interface BodyReader {
  /** Throws AppError for a media type that the route does not take, before the body is read. */
  checkType(headers: IncomingHttpHeaders): void;
  /** The parsed and validated body. Throws AppError. */
  parse(bytes: Buffer, isStrict: boolean): unknown;
}

/** One method of one address, ready to be run by the pipeline. */
export interface Route {
  readonly method: Method;
  /** As in OpenAPI: `/v1/pets/{petId}`. */
  readonly path: string;
  readonly access: Access;
  /** Of several any one will do; null asks for none. */
  readonly scope: Scope | readonly Scope[] | null;
  /** Unix milliseconds from which on the route answers 410; null if it is to stay. */
  readonly removedAtMs: number | null;
  /** Header lines of every answer of the route, failures included. */
  readonly announcement: string;
  /** Header lines for browsers; null stands for the usual ones (security-headers.ts). */
  readonly securityLines: string | null;
  /** Whether its answers are kept by the response cache. */
  readonly isCached: boolean;
  /** The operation that an `Idempotency-Key` stands for; null if the route does not read it. */
  readonly idempotentOperation: string | null;
  /** The parsed and validated query. Throws AppError. */
  readQuery(text: string, isStrict: boolean): unknown;
  /** Null if the route takes no body: one that comes is ignored. */
  readonly body: BodyReader | null;
  run(call: Call): Soon<Reply>;
}

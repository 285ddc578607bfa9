import type { Static, TObject, TSchema } from 'typebox';
import type { Caller, Scope } from '../accounts/account.ts';
import type { AnyCode } from '../errors.ts';
import type { Role } from '../operator-role.ts';
import type { Services } from './api/services.ts';
import type { HeaderName } from './openapi/headers.ts';
import type { HeaderTexts } from './response/answer.ts';
import type { Deprecation } from './response/deprecation.ts';
import type { Call, Method } from './route.ts';

export interface Example {
  readonly summary: string;
  readonly value: unknown;
}

export type Examples = Readonly<Record<string, Example>>;

export interface AnswerDefinition {
  /** The condition under which the operation returns this response. */
  readonly description: string;
  /** Absent if the response has no body. */
  readonly body?: TSchema;
  /** Headers of this response, without the headers that every response has. */
  readonly headers?: readonly HeaderName[];
  readonly examples?: Examples;
}

/** The result of an operation, before it is serialised. */
export interface Outcome {
  /** One of the statuses in the operation's `answers`. */
  readonly status: number;
  /** The body before serialisation by its schema in `answers`. */
  readonly body?: unknown;
  /** The text from which the `ETag` of a GET is computed. Default: the whole body. */
  readonly validated?: string;
  /** A body that is already serialised. It is sent instead of `body`. */
  readonly text?: string;
  readonly headers?: HeaderTexts;
}

/** The parameter of a path. */
export interface PathParameter {
  readonly schema: TObject;
  /** The message of the 404 for an identifier that names nothing. */
  readonly unknown: string;
}

export type NoFields = TObject<Record<never, never>>;

/** The definition of one operation, from which its route, validation, OpenAPI description and client are derived. */
export interface OperationDefinition<
  Query extends TObject,
  Body extends TObject,
  Parts = Services,
  Who = Caller,
> {
  readonly summary: string;
  readonly description: string;
  /** `stable` if the interface document describes the operation (CONTRIBUTING.md, "Words"). Default: `beta`. */
  readonly stability?: 'stable' | 'beta';
  /** The role that an operator needs. Only the operations of the operator's port have one. */
  readonly role?: Role;
  readonly deprecation?: Deprecation;
  /** The identifier in the path. The operation reads it itself, because an invalid one gets 404 and not 400. */
  readonly params?: PathParameter;
  readonly query?: Query;
  readonly body?: Body;
  /** Accepted media types of the body. Default: `application/json`. */
  readonly bodyTypes?: readonly string[];
  /** True if the body may be absent. If it is absent, the handler gets null. */
  readonly isBodyOptional?: boolean;
  readonly bodyExamples?: Examples;
  /** True if a retry with the same `Idempotency-Key` gets the stored response to the first request. */
  readonly isIdempotent?: boolean;
  /** True if the operation heeds `If-Match`: if the header does not match, it changes nothing (preconditions.ts). */
  readonly isConditional?: boolean;
  readonly answers: Readonly<Record<number, AnswerDefinition>>;
  /** Error codes of this operation alone, each with an example message. openapi/answers.ts adds all others. */
  readonly failures?: Readonly<Partial<Record<AnyCode, string>>>;
  /** True if the response cache keeps the responses. They must depend only on the request target and the animals. */
  readonly isCached?: boolean;
  /** True if a person cannot take the act back. The form of the documentation then asks before it sends it. */
  readonly isDrastic?: boolean;
  /** The name of the guide (docs-site/guides.ts) that explains when and how to call the operation. */
  readonly guide?: string;
  /** True if the responses contain a secret or are outdated at once: `Cache-Control: no-store`, and no `ETag`. */
  readonly isNeverStored?: boolean;
  handle(call: Call<Static<Query>, Static<Body>, Who>, services: Parts): Promise<Outcome>;
}

/** An operation whose query and body types are erased. `defineOperation` has checked them. */
export interface Operation extends OperationDefinition<TObject, TObject> {
  readonly id: string;
  readonly method: Method;
  readonly path: `/${string}`;
  /** The group of the operation in the documentation: the first segment of its path. */
  readonly tag: string;
  /** The required scope, or a list of which any one is enough. Null: every key may call the operation. */
  readonly scope: Scope | readonly Scope[] | null;
  readonly stability: 'stable' | 'beta';
}

/** Completes the definition of an operation. `endpoint` is its method and its path, as in OpenAPI. */
export function defineOperation<
  Query extends TObject = NoFields,
  Body extends TObject = NoFields,
  Parts = Services,
  Who = Caller,
>(
  id: string,
  endpoint: `${Method} /${string}`,
  scope: Operation['scope'],
  definition: OperationDefinition<Query, Body, Parts, Who>,
): Operation {
  const [method = '', path = ''] = endpoint.split(' ');
  const [, tag = ''] = path.split('/');
  return { id, method, path, tag, scope, stability: 'beta', ...definition } as unknown as Operation;
}

/** Returns the name of an operation in URLs, such as `list-pets`. */
export function nameOperation({ id }: Pick<Operation, 'id'>): string {
  return id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

import type { Static, TObject, TSchema } from 'typebox';
import type { Caller, Scope } from '../accounts/account.ts';
import type { ErrorCode } from '../errors.ts';
import type { Services } from './api/operations.ts';
import type { HeaderName } from './openapi/headers.ts';
import type { HeaderTexts } from './response/answer.ts';
import type { Deprecation } from './response/deprecation.ts';
import type { Call, Method } from './route.ts';

/** An example body in the reference. */
export interface Example {
  readonly summary: string;
  readonly value: unknown;
}

/** Describes a successful response of an operation. */
export interface AnswerDefinition {
  /** The condition under which the operation returns this response. */
  readonly description: string;
  /** Absent if the response has no body. */
  readonly body?: TSchema;
  /** Headers of this response, without the headers that every response has. */
  readonly headers?: readonly HeaderName[];
  readonly examples?: Readonly<Record<string, Example>>;
}

/** The result of an operation, before it is serialised. */
export interface Outcome {
  /** One of the statuses in the operation's `answers`. */
  readonly status: number;
  /** The body before serialisation. Its schema is in the operation's `answers`. */
  readonly body?: unknown;
  /** The text from which the `ETag` of a GET is computed. Default: the whole body. */
  readonly validated?: string;
  /** A body that is already serialised. It is sent instead of `body`. */
  readonly text?: string;
  readonly headers?: HeaderTexts;
}

/** The schema of a query or body without fields. */
export type NoFields = TObject<Record<never, never>>;

/**
 * The definition of one operation. The route, the validation, the OpenAPI description and the client are derived from
 * this definition.
 */
export interface OperationDefinition<Query extends TObject, Body extends TObject> {
  readonly id: string;
  readonly method: Method;
  /** Path below the base URL, as in OpenAPI: `/pets/{petId}`. */
  readonly path: `/${string}`;
  /**
   * The required scope. If it is a list, any one of its scopes is enough. If it is null, every key may call the
   * operation.
   */
  readonly scope: Scope | readonly Scope[] | null;
  readonly summary: string;
  readonly description: string;
  /** `stable` if the interface document describes the operation (CONTRIBUTING.md, "Words"). Default: `beta`. */
  readonly stability?: 'stable' | 'beta';
  readonly deprecation?: Deprecation;
  /**
   * Schemas of the path parameters, used only for the description. The operation validates the values itself, because
   * an invalid identifier gets 404 and not 400.
   */
  readonly params?: TObject;
  readonly query?: Query;
  readonly body?: Body;
  /** Accepted media types of the body. Default: `application/json`. */
  readonly bodyTypes?: readonly string[];
  /** True if the body may be absent. If it is absent, the handler gets null. */
  readonly isBodyOptional?: boolean;
  readonly bodyExamples?: Readonly<Record<string, Example>>;
  /**
   * True if the operation reads `Idempotency-Key`. A retry with the same key gets the stored response to the first
   * request.
   */
  readonly isIdempotent?: boolean;
  /** True if the operation reads `If-Match`. If the header does not match, the operation changes nothing. */
  readonly isConditional?: boolean;
  readonly answers: Readonly<Record<number, AnswerDefinition>>;
  /**
   * Error codes that are specific to this operation, each with an example message. openapi/failures.ts adds the common
   * codes.
   */
  readonly failures?: Readonly<Partial<Record<ErrorCode, string>>>;
  /**
   * True if the response cache stores the responses. A response must depend only on the request target and the
   * animals, not on the caller or the time. It is stored until any animal changes.
   */
  readonly isCached?: boolean;
  /**
   * True if the responses contain a secret or are outdated immediately. They get `Cache-Control: no-store` and no
   * `ETag`.
   */
  readonly isNeverStored?: boolean;
  handle(call: Call<Static<Query>, Static<Body>, Caller>, services: Services): Promise<Outcome>;
}

/** An operation whose query and body types are erased. `defineOperation` has checked them. */
export interface Operation extends OperationDefinition<TObject, TObject> {
  /** The group of the operation in the documentation: the first segment of its path. */
  readonly tag: string;
  readonly stability: 'stable' | 'beta';
}

/** Completes the definition. The compiler checks the types of the handler against the schemas. */
export function defineOperation<Query extends TObject = NoFields, Body extends TObject = NoFields>(
  definition: OperationDefinition<Query, Body>,
): Operation {
  const [, tag = ''] = definition.path.split('/');
  return { tag, stability: 'beta', ...definition } as unknown as Operation;
}

import type { Static, TObject, TSchema } from 'typebox';
import type { Caller, Scope } from '../accounts/account.ts';
import type { ErrorCode } from '../errors.ts';
import type { PetSelection } from '../pets/pet-selection.ts';
import type { Soon } from '../soon.ts';
import type { Services } from './api/services.ts';
import type { HeaderName } from './openapi/headers.ts';
import type { Deprecation } from './response/deprecation.ts';
import type { HeaderTexts } from './response/header-lines.ts';
import type { Call, Method } from './route.ts';

/** An example of a body, for the reference. */
export interface Example {
  readonly summary: string;
  readonly value: unknown;
}

/** A successful answer of an operation. */
export interface AnswerDefinition {
  /** When the operation returns it. */
  readonly description: string;
  /** Absent if the answer has no body. */
  readonly body?: TSchema;
  /** Headers besides those that every answer has. */
  readonly headers?: readonly HeaderName[];
  readonly examples?: Readonly<Record<string, Example>>;
}

/** The answer of an operation to a call, before it is serialised. */
export interface Outcome {
  /** One of the statuses in the operation's `answers`. */
  readonly status: number;
  /** Serialised by the schema of its answer. */
  readonly body?: unknown;
  /** The text for the validator of a GET, if it does not depend on the whole body. */
  readonly validated?: string;
  /** An already serialised body, in place of `body`. */
  readonly text?: string;
  readonly headers?: HeaderTexts;
  /** How long the answer waited because the client asked for it. The measured duration does not include it. */
  readonly heldMs?: number;
  /** The animals that the answer depends on. The response cache keeps only answers that have it. */
  readonly dependsOn?: PetSelection;
}

/** The schema of a query or body without fields. */
export type NoFields = TObject<Record<never, never>>;

/**
 * The definition of one operation of the interface. The router, the validation, the description and the client follow
 * from it.
 */
export interface OperationDefinition<Query extends TObject, Body extends TObject> {
  readonly id: string;
  readonly method: Method;
  /** Relative to the base address, as in OpenAPI: `/pets/{petId}`. */
  readonly path: `/${string}`;
  readonly tag: string;
  /** The required scope. Any one of several is enough; null accepts every key. */
  readonly scope: Scope | readonly Scope[] | null;
  readonly summary: string;
  readonly description: string;
  /** `beta` marks an extension of the interface. */
  readonly stability: 'stable' | 'beta';
  readonly deprecation?: Deprecation;
  /** Path parameters, by name. The operation checks them itself: an invalid identifier is 404, not 400. */
  readonly params?: TObject;
  readonly query?: Query;
  readonly body?: Body;
  /** The media types of the body. Default: only JSON. */
  readonly bodyTypes?: readonly string[];
  /** Whether the body may be left out. Then the handler gets null. */
  readonly isBodyOptional?: boolean;
  readonly bodyExamples?: Readonly<Record<string, Example>>;
  /** Whether the operation reads `Idempotency-Key` and answers a retry with its first answer. */
  readonly isIdempotent?: boolean;
  /** Whether the operation reads `If-Match` and does nothing unless it matches. */
  readonly isConditional?: boolean;
  readonly answers: Readonly<Record<number, AnswerDefinition>>;
  /**
   * Error codes of this operation alone: not those that all operations, all with a body, or all with a key share.
   */
  readonly failures?: readonly ErrorCode[];
  /** Whether the response cache keeps the answers, each until an animal that it depends on changes. */
  readonly isCached?: boolean;
  /**
   * Whether the answers are valid only for a moment or have a secret. They have no validator, and no cache may store
   * them.
   */
  readonly isNeverStored?: boolean;
  handle(call: Call<Static<Query>, Static<Body>, Caller>, services: Services): Soon<Outcome>;
}

/** An operation without the types of its query and body, which are checked where it is defined. */
export type Operation = OperationDefinition<TObject, TObject>;

/** Defines an operation and checks the types of its handler. */
export function defineOperation<Query extends TObject = NoFields, Body extends TObject = NoFields>(
  definition: OperationDefinition<Query, Body>,
): Operation {
  return definition as unknown as Operation;
}

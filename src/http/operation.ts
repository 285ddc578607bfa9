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

/** An example of a body, as the reference shows it. */
export interface Example {
  readonly summary: string;
  readonly value: unknown;
}

/** A successful answer of an operation. */
export interface AnswerDefinition {
  /** When it is given. */
  readonly description: string;
  /** Absent if the answer has no body. */
  readonly body?: TSchema;
  /** Headers besides those that every answer has. */
  readonly headers?: readonly HeaderName[];
  readonly examples?: Readonly<Record<string, Example>>;
}

/** What an operation answers a call with. */
export interface Outcome {
  /** One of the operation's `answers`. */
  readonly status: number;
  /** Serialised by the schema of that answer. */
  readonly body?: unknown;
  /** What the validator of a GET is made of, if not of the whole body. */
  readonly validated?: string;
  /** A body that was serialised before, in place of `body`. */
  readonly text?: string;
  readonly headers?: HeaderTexts;
  /** How long the client had the answer wait on purpose: no part of the time that it took. */
  readonly heldMs?: number;
  /** The animals that the answer is made of. Required for the response cache to keep it. */
  readonly dependsOn?: PetSelection;
}

/** An operation without query parameters, or without a body, has no fields. */
export type NoFields = TObject<Record<never, never>>;

/** Everything about one operation of the interface. Router, validation, description and client follow from it. */
export interface OperationDefinition<Query extends TObject, Body extends TObject> {
  readonly id: string;
  readonly method: Method;
  /** Relative to the base address, as in OpenAPI: `/pets/{petId}`. */
  readonly path: `/${string}`;
  readonly tag: string;
  /** Of several any one will do; with null any key will. */
  readonly scope: Scope | readonly Scope[] | null;
  readonly summary: string;
  readonly description: string;
  /** `beta` marks an extension of the interface. */
  readonly stability: 'stable' | 'beta';
  readonly deprecation?: Deprecation;
  /** Path parameters, by name. Their rules belong to the operation: what names nothing is 404 and not 400. */
  readonly params?: TObject;
  readonly query?: Query;
  readonly body?: Body;
  /** The media types that the body may have; JSON alone unless they are named. */
  readonly bodyTypes?: readonly string[];
  readonly bodyExamples?: Readonly<Record<string, Example>>;
  /** Reads `Idempotency-Key`, and answers a retry with its first answer. */
  readonly isIdempotent?: boolean;
  /** Reads `If-Match`, and does nothing unless it holds. */
  readonly isConditional?: boolean;
  readonly answers: Readonly<Record<number, AnswerDefinition>>;
  /** Codes besides those that every operation, or every operation with a body or a key, has. */
  readonly failures?: readonly ErrorCode[];
  /** The response cache keeps its answers, each until an animal that it depends on changes. */
  readonly isCached?: boolean;
  handle(call: Call<Static<Query>, Static<Body>, Caller>, services: Services): Soon<Outcome>;
}

/** An operation whose types of query and body are checked where it is defined. */
export type Operation = OperationDefinition<TObject, TObject>;

/** Defines an operation; see OperationDefinition. */
export function defineOperation<Query extends TObject = NoFields, Body extends TObject = NoFields>(
  definition: OperationDefinition<Query, Body>,
): Operation {
  return definition as unknown as Operation;
}

import build from 'fast-json-stringify';
import type { TObject } from 'typebox';
import { AppError } from '../errors.ts';
import { compileObject, describeViolations } from '../violations.ts';
import type { Services } from './api/services.ts';
import type { Operation, Outcome } from './operation.ts';
import { hasValidators, listRefusals, refusePreconditions } from './preconditions.ts';
import { checkJsonType, jsonTypes, parseJsonBody } from './request/body.ts';
import { refuseUnknown } from './request/preferences.ts';
import { compileQuery } from './request/query.ts';
import {
  type Answer,
  type HeaderList,
  jsonType,
  listHeaders,
  makeAnswer,
  makeEmptyAnswer,
  makeTaggedAnswer,
} from './response/answer.ts';
import { announceDeprecation } from './response/deprecation.ts';
import type { Access, BodyReader, Call, Route } from './route.ts';

/** An interface of which operations are a part. */
export interface Surface {
  /** The start of all paths. */
  readonly prefix: string;
  readonly access: Access;
  /** Security headers for browsers. Null for the defaults. */
  readonly securityHeaders: HeaderList | null;
  /** True if unknown parameters and fields are always an error, and not only if the client asks for it. */
  readonly isStrict: boolean;
  /** Writes a body as JSON. Null: each body is written by its schema. */
  readonly write: ((body: unknown) => string) | null;
}

const publicSurface: Surface = {
  prefix: '/v1',
  access: 'key',
  securityHeaders: null,
  isStrict: false,
  write: null,
};

export function bindOperation(
  operation: Operation,
  services: Pick<Services, 'baseUrl'>,
  surface: Surface = publicSurface,
): Route {
  const { method, path, scope, role = null, deprecation = null, query, body, bodyTypes } = operation;
  const { isCached = false, isIdempotent = false } = operation;
  const announcement = deprecation === null ? [] : announceDeprecation(deprecation, services.baseUrl);
  const serialise = compileAnswers(operation, announcement, surface.write);
  const refusals = listRefusals(operation);
  const readQuery = compileQuery(query);
  const reader = body === undefined ? null : compileBody(body, bodyTypes, operation.isBodyOptional === true);
  const handle = operation.handle as (call: Call, services: object) => ReturnType<Operation['handle']>;
  return {
    method,
    path: `${surface.prefix}${path}`,
    access: surface.access,
    scope,
    role,
    deprecation,
    announcement,
    securityHeaders: surface.securityHeaders,
    isCached,
    idempotentOperation: isIdempotent ? operation.id : null,
    readQuery: surface.isStrict ? (text) => readQuery(text, true) : readQuery,
    body:
      surface.isStrict && reader !== null
        ? { ...reader, parse: (bytes) => reader.parse(bytes, true) }
        : reader,
    async run(call) {
      refusePreconditions(call.headers, refusals);
      return serialise(await handle(call, services));
    },
  };
}

/** Returns a reader that validates a body against `schema`. The error names every invalid field. */
export function compileBody(
  schema: TObject,
  types: readonly string[] = jsonTypes.plain,
  isOptional = false,
): BodyReader {
  const names = Object.keys(schema.properties);
  const rules = compileObject(schema);
  return {
    isOptional,
    checkType: (headers) => checkJsonType(headers, types),
    parse(bytes, isStrict) {
      const body = parseJsonBody(bytes);
      if (isStrict) refuseUnknown('invalid_body', body, names);
      if (rules.accepts(body)) return body;
      throw new AppError('invalid_body', describeViolations(rules.findViolations(body), 'the body'));
    },
  };
}

/**
 * Returns a function that serialises the outcomes of an operation with `write`, or by their schemas if it is null. An int64
 * keeps all its digits.
 */
function compileAnswers(
  operation: Operation,
  announcement: HeaderList,
  write: Surface['write'],
): (outcome: Outcome) => Answer {
  const { answers, isNeverStored = false } = operation;
  const isTagged = hasValidators(operation);
  const fixed = isNeverStored ? [...announcement, 'cache-control', 'no-store'] : announcement;
  const writers = new Map<number, (body: unknown) => string>();
  for (const [status, { body }] of Object.entries(answers))
    if (body !== undefined) writers.set(Number(status), write ?? build(body as Parameters<typeof build>[0]));

  return ({ status, body, text, headers, validated }) => {
    const all = headers === undefined ? fixed : [...fixed, ...listHeaders(headers)];
    const serialised = text ?? writers.get(status)?.(body);
    if (serialised === undefined) return makeEmptyAnswer(status, all);
    return isTagged
      ? makeTaggedAnswer(serialised, all, jsonType, validated)
      : makeAnswer(status, serialised, all);
  };
}

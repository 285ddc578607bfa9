import { STATUS_CODES } from 'node:http';
import Type, { type TObject, type TSchema } from 'typebox';
import { accountSuspended, keyMessages } from '../../accounts/account.ts';
import { type AnyCode, type ErrorCode, errorCodes, errorStatus, operatorCodes } from '../../errors.ts';
import { enumField, namedObject, openEnum, wholeNumberField } from '../../schema.ts';
import { compileObject, describeRule, describeViolations } from '../../violations.ts';
import { operations } from '../api/operations.ts';
import type { AnswerDefinition, Example, Operation } from '../operation.ts';
import { hasValidators, listRefusals } from '../preconditions.ts';
import { jsonTypes } from '../request/body.ts';
import { removedError } from '../response/deprecation.ts';
import type { HeaderName } from './headers.ts';

/** One status of an operation, as the description and the reference page show it. */
export interface DescribedAnswer extends Omit<AnswerDefinition, 'examples'> {
  readonly status: number;
  /** The headers, without those of every response. */
  readonly headers: readonly HeaderName[];
  /** Example bodies by name. The name of an error is its code. */
  readonly examples?: Readonly<Record<string, Partial<Example>>>;
}

const describeError = (codes: readonly AnyCode[]) =>
  namedObject('Error', 'What went wrong.', {
    code: openEnum(enumField(codes, 'Machine-readable error code.')),
    message: Type.String({
      maxLength: 2_000,
      pattern: '^[^\\x00-\\x1f\\x7f]*$',
      description: 'Human-readable description.',
    }),
    status: wholeNumberField('The HTTP status code.', { minimum: 400, maximum: 599 }),
  });

/** Describes each error status. `headers` are those that not every error response has. */
const statuses: Readonly<Record<number, { when: string; headers?: readonly HeaderName[] }>> = {
  400: { when: 'A field, a parameter or the request itself breaks a rule; the message names it.' },
  401: { when: 'Missing or invalid API key.', headers: ['WWW-Authenticate'] },
  403: {
    when: 'The API key lacks the scope of this operation, or its account is suspended.',
    headers: ['WWW-Authenticate'],
  },
  404: { when: 'Nothing has that identifier.' },
  405: { when: 'The address does not allow this method.', headers: ['Allow'] },
  408: { when: 'The request did not arrive in time.' },
  409: {
    when: 'The request conflicts with the current state, or the first request with its `Idempotency-Key` is still running.',
  },
  410: { when: 'The operation has been removed, or the requested data is no longer kept.' },
  412: { when: 'The animal has none of the `ETag`s in `If-Match`.' },
  413: { when: 'The body or its chunk extensions are too large.' },
  415: { when: 'The body is not JSON in UTF-8.' },
  422: { when: 'This `Idempotency-Key` was used before with another body or another operation.' },
  429: { when: 'Rate limit exceeded, or the API key is temporarily banned.', headers: ['Retry-After'] },
  431: { when: 'The head of the request is too large.' },
  500: { when: 'The service failed.' },
  503: { when: 'The service cannot answer at the moment.', headers: ['Retry-After'] },
};

/** The codes that every operation of each port can return, each with an example message. */
const sharedMessages = {
  invalid_body: 'the body does not match the headers of the request',
  invalid_parameter: 'limt is not a query parameter of this operation',
  method_not_allowed: 'PUT is not allowed here',
  request_timeout: 'the request did not arrive in time',
  payload_too_large: 'the body is larger than 65536 bytes',
  headers_too_large: 'the head of the request is too large',
  internal_error: 'the service failed; try again',
  unavailable: 'the store cannot do this at the moment; try again',
} satisfies Partial<Record<AnyCode, string>>;

/** The same for the public port. An operation without a scope has no `scope_missing`. */
const commonMessages = {
  ...sharedMessages,
  ...keyMessages,
  scope_missing: 'this API key lacks the scope pets:write',
  account_suspended: accountSuspended().message,
  rate_limit_exceeded: 'rate limit exceeded; retry after 42 s',
  key_banned:
    'this API key is temporarily banned because it kept sending requests after a 429; retry after 60 s',
} satisfies Partial<Record<ErrorCode, string>>;

/** What the failures of all operations of an interface have in common. */
export interface CommonFailures {
  /** The codes of all operations, each with an example message. */
  readonly messages: Readonly<Partial<Record<AnyCode, string>>>;
  /** The conditions of statuses that mean something else than on the public port. */
  readonly conditions: Readonly<Record<number, string>>;
  readonly error: TSchema;
  /** The headers that every failure has. */
  readonly headers: readonly HeaderName[];
}

export const publicFailures: CommonFailures = {
  messages: commonMessages,
  conditions: {},
  error: describeError(errorCodes),
  headers: ['Cache-Control', 'HelpLink'],
};

/** The failures of the operator's API. */
export const operatorFailures: CommonFailures = {
  messages: {
    ...sharedMessages,
    token_missing: 'send a token of an operator as "Authorization: Bearer <TOKEN>"',
    token_invalid: 'this token is not valid, or it has expired or was ended',
    role_missing: 'this needs the role admin, but mira has the role reader',
    rate_limit_exceeded: 'too many wrong tokens; retry after 42 s',
  },
  conditions: {
    401: 'Missing or invalid token.',
    403: 'The role of the operator does not allow the operation.',
    409: 'The store cannot do this; the message says why.',
    429: 'More than 60 wrong tokens in a minute.',
  },
  error: describeError([...errorCodes, ...operatorCodes]),
  headers: ['Cache-Control'],
};

/** The codes that every operation can return. */
export const commonCodes: ReadonlySet<string> = new Set(Object.keys(commonMessages));

const announcements: readonly HeaderName[] = ['Deprecation', 'Sunset', 'SuccessorLink'];
/** Error statuses of requests that fail before their operation is known. They announce no deprecation. */
const beforeOperation: ReadonlySet<number> = new Set([405, 408, 431]);

/** Returns every response that an operation can give, sorted by status. */
export function listAnswers(operation: Operation, common = publicFailures): readonly DescribedAnswer[] {
  const announced = operation.deprecation === undefined ? [] : announcements;
  const answers = [
    ...describeSuccesses(operation, announced),
    ...describeFailures(operation, announced, common),
  ];
  return answers.sort((one, other) => one.status - other.status);
}

function describeSuccesses(operation: Operation, announced: readonly HeaderName[]): DescribedAnswer[] {
  const isTagged = hasValidators(operation);
  const answers = Object.entries(operation.answers).map(([status, answer]) => ({
    ...answer,
    status: Number(status),
    headers: [
      ...nameIf(isTagged || operation.isNeverStored, 'Cache-Control'),
      ...nameIf(isTagged, 'ETag'),
      ...(answer.headers ?? []),
      ...nameIf(operation.isIdempotent, 'Idempotent-Replayed'),
      ...announced,
    ],
  }));
  const [first] = answers;
  if (!isTagged || first === undefined) return answers;
  const description = 'The response still has an `ETag` that `If-None-Match` names.';
  return [...answers, { status: 304, description, headers: first.headers }];
}

function describeFailures(
  operation: Operation,
  announced: readonly HeaderName[],
  common: CommonFailures,
): DescribedAnswer[] {
  return Array.from(listFailures(operation, common), ([status, messages]) => {
    const known = statuses[status];
    if (known === undefined) throw new Error(`no error has the status ${status}`);
    const { when, headers = [] } = known;
    const description = common.conditions[status] ?? when;
    const examples = messages.map(([code, message]) => [code, { value: { code, message, status } }]);
    const own = beforeOperation.has(status) ? [] : announced;
    return {
      status,
      description,
      headers: [...common.headers, ...headers, ...own],
      body: common.error,
      examples: Object.fromEntries(examples),
    };
  });
}

function nameIf(isSent: boolean | undefined, name: HeaderName): HeaderName[] {
  return isSent ? [name] : [];
}

/** Returns the errors of an operation by status, each with an example message of this operation. */
function listFailures(
  operation: Operation,
  common: CommonFailures,
): Map<number, (readonly [code: AnyCode, message: string])[]> {
  const { scope, params, query, body, bodyTypes = jsonTypes.plain, isIdempotent, isConditional } = operation;
  const [refusal] = listRefusals(operation);
  const messages: Partial<Record<AnyCode, string>> = {
    ...common.messages,
    ...(common === publicFailures && { method_not_allowed: describeRefusedMethod(operation) }),
    ...(refusal && { invalid_parameter: refusal.message }),
    ...(isConditional && {
      invalid_parameter: 'If-Match must be * or a list of entity tags in double quotes',
    }),
    ...(query && hasFields(query) && { invalid_parameter: findParameterMistake(query) }),
    ...(scope && { scope_missing: `this API key lacks the scope ${[scope].flat().join(' or ')}` }),
    ...(params && { not_found: params.unknown }),
    ...operation.failures,
    ...(body && {
      invalid_body: findBodyMistake(body),
      unsupported_media_type: `Content-Type: the body must be ${bodyTypes.join(' or ')}`,
    }),
    ...(isIdempotent && {
      invalid_parameter: 'Idempotency-Key must have 1 to 255 visible ASCII characters',
      idempotency_key_reused: 'Idempotency-Key: this key was sent before with another body',
      idempotency_key_in_use: 'Idempotency-Key: the first request with this key is still running',
    }),
    ...(operation.deprecation && { gone: removedError(operation.deprecation).message }),
  };
  if (scope === null) delete messages.scope_missing;
  return Map.groupBy(Object.entries(messages) as [AnyCode, string][], ([code]) => errorStatus[code]);
}

function hasFields({ properties }: TObject): boolean {
  return Object.keys(properties).length > 0;
}

/** Returns the message for a method that the path of an operation does not allow. */
function describeRefusedMethod({ path, method }: Operation): string {
  const own = operations.filter((operation) => operation.path === path).map((operation) => operation.method);
  const allowed = [...new Set([method, ...own])].flatMap((name) =>
    name === 'GET' ? [name, 'HEAD'] : [name],
  );
  const refused = ['PUT', 'POST', 'DELETE'].find((name) => !allowed.includes(name));
  return `${refused} is not allowed here; allowed: ${allowed.sort().join(', ')}`;
}

function findParameterMistake({ properties }: TObject): string {
  const [[name, schema] = ['', {}]] = Object.entries<TSchema>(properties);
  return `${name} ${describeRule(schema)}`;
}

/** Returns the message of an empty body. If an empty body is valid, returns the message of null as its first field. */
function findBodyMistake(body: TObject): string {
  const { findViolations } = compileObject(body);
  const [first = ''] = Object.keys(body.properties);
  const missing = findViolations({});
  return describeViolations(missing.length > 0 ? missing : findViolations({ [first]: null }), 'the body');
}

/** Returns the name of an error status in the shared responses, such as `TooManyRequests`. */
export function nameFailure(status: number): string {
  return (STATUS_CODES[status] ?? '').replaceAll(/[^A-Za-z]/g, '');
}

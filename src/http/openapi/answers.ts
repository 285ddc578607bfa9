import type { TSchema } from 'typebox';
import type { AnswerDefinition, Operation } from '../operation.ts';
import { describeFailure, listFailures } from './failures.ts';
import type { HeaderName } from './headers.ts';

/** One status of an operation, as the description and the reference page show it. */
export interface DescribedAnswer {
  readonly status: number;
  readonly description: string;
  /** The headers, without those of every response. */
  readonly headers: readonly HeaderName[];
  /** Absent if the response has no body. */
  readonly body?: TSchema;
  /** Example bodies by name. The name of an error is its code. */
  readonly examples?: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;
}

const announcements: readonly HeaderName[] = ['Deprecation', 'Sunset', 'SuccessorLink'];
/** Error statuses of requests that fail before their operation is known. They announce no deprecation. */
const beforeOperation: ReadonlySet<number> = new Set([405, 408, 431]);

/** Returns every response that an operation can give, sorted by status. */
export function listAnswers(operation: Operation): readonly DescribedAnswer[] {
  const answers: DescribedAnswer[] = Object.entries(operation.answers).map(([status, answer]) => ({
    ...answer,
    status: Number(status),
    headers: listHeaders(operation, answer),
  }));
  const [first] = answers;
  if (hasValidators(operation) && first !== undefined)
    answers.push({
      status: 304,
      description: 'The answer still has an `ETag` that `If-None-Match` names.',
      headers: first.headers,
    });
  const own = operation.deprecation === undefined ? [] : announcements;
  for (const [status, failures] of listFailures(operation))
    answers.push(describeFailure(status, failures, beforeOperation.has(status) ? [] : own));
  return answers.sort((one, other) => one.status - other.status);
}

/** True if responses have an `ETag`. */
export function hasValidators({ method, isNeverStored = false }: Operation): boolean {
  return method === 'GET' && !isNeverStored;
}

function listHeaders(operation: Operation, { headers = [] }: AnswerDefinition): HeaderName[] {
  const all: (HeaderName | false)[] = [
    (hasValidators(operation) || operation.isNeverStored === true) && 'Cache-Control',
    hasValidators(operation) && 'ETag',
    ...headers,
    operation.isIdempotent === true && 'Idempotent-Replayed',
    ...(operation.deprecation === undefined ? [] : announcements),
  ];
  return all.filter((name) => name !== false);
}

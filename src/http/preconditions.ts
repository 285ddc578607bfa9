import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../errors.ts';
import type { Operation } from './operation.ts';

/** What an operation does with a precondition: it heeds it, ignores it, or answers 400 before it changes anything. */
type Treatment = 'heeded' | 'ignored' | 'refused';

/**
 * Decides how an operation treats each precondition. A client sends one with a change so that the change depends on it, so
 * an operation that does not heed it refuses it. The stable operations promised to ignore headers that they do not name.
 */
export function treatPreconditions(
  operation: Operation,
): Readonly<Record<'If-None-Match' | 'If-Match', Treatment>> {
  const { method, stability, isConditional = false, isNeverStored = false } = operation;
  const isRead = method === 'GET';
  const otherwise = isRead || stability === 'stable' ? 'ignored' : 'refused';
  return {
    'If-None-Match': isRead && !isNeverStored ? 'heeded' : otherwise,
    'If-Match': isConditional ? 'heeded' : otherwise,
  };
}

/** True if responses have an `ETag` that `If-None-Match` takes. */
export function hasValidators(operation: Operation): boolean {
  return treatPreconditions(operation)['If-None-Match'] === 'heeded';
}

interface Refusal {
  readonly header: string;
  readonly message: string;
}

/** Lists the preconditions that an operation refuses, each with the message of its error. */
export function listRefusals(operation: Operation): readonly Refusal[] {
  return Object.entries(treatPreconditions(operation)).flatMap(([header, treatment]) =>
    treatment === 'refused'
      ? [{ header, message: `${header} is not supported by this operation; nothing was changed` }]
      : [],
  );
}

/** Throws AppError if a request has one of these preconditions. */
export function refusePreconditions(headers: IncomingHttpHeaders, refusals: readonly Refusal[]): void {
  for (const { header, message } of refusals)
    if (headers[header.toLowerCase()] !== undefined) throw new AppError('invalid_parameter', message);
}

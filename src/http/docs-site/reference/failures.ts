import type { DescribedOperation, Response } from './description.ts';

/** An error that an operation can return. */
export interface Failure {
  readonly code: string;
  readonly status: string;
  readonly when: string;
  /** An example body. */
  readonly body: unknown;
}

/** Returns the errors of an operation, sorted by status. */
export function listFailures({ responses }: Pick<DescribedOperation, 'responses'>): readonly Failure[] {
  return responses.filter(isFailure).flatMap(({ status, description, body }) =>
    Object.entries(body?.examples ?? {}).map(([code, { value }]) => ({
      code,
      status,
      when: description,
      body: value,
    })),
  );
}

/** Returns the error codes that all operations share. */
export function findCommonCodes(operations: readonly DescribedOperation[]): ReadonlySet<string> {
  const lists = operations.map((operation) => new Set(listFailures(operation).map(({ code }) => code)));
  const [first = new Set<string>(), ...others] = lists;
  return new Set([...first].filter((code) => others.every((codes) => codes.has(code))));
}

function isFailure({ status }: Response): boolean {
  return /^[45]/.test(status);
}

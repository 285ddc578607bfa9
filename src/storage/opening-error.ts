import { OperatorError } from '../errors.ts';

/** Turns the error of opening a store into an OperatorError of one line. Returns an OperatorError as it is. */
export function toOpeningError(store: string, error: unknown): OperatorError {
  if (error instanceof OperatorError) return error;
  return new OperatorError(`the database ${store} cannot be opened: ${reasonOf(error)}`, { cause: error });
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}

import { AppError, type ErrorCode, OperatorError, OutcomeUnknownError, UsageError } from '../../errors.ts';

/** An error between threads. A structured clone of an error has no class, no code and no error number of SQLite. */
export interface PackedError {
  readonly error: Error;
  readonly name: string;
  readonly code: unknown;
  readonly errcode: unknown;
}

/** Packs a thrown value. */
export function packError(thrown: unknown): PackedError {
  const error: Error & { code?: unknown; errcode?: unknown } =
    thrown instanceof Error ? thrown : new Error(String(thrown));
  const { name, code, errcode } = error;
  return { error, name, code, errcode };
}

const operatorErrors: Readonly<Record<string, typeof OperatorError>> = {
  OperatorError,
  OutcomeUnknownError,
  UsageError,
};

/** Returns the error with its original class if errors.ts declares that class, otherwise as Error. */
export function unpackError({ error: { message, stack, cause }, name, code, errcode }: PackedError): Error {
  const error =
    name === 'AppError'
      ? new AppError(code as ErrorCode, message, { cause })
      : new (operatorErrors[name] ?? Error)(message, { cause });
  Object.assign(error, { stack }, code !== undefined && { code }, errcode !== undefined && { errcode });
  return error;
}

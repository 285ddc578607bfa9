import { AppError, type ErrorCode, OperatorError, OutcomeUnknownError, UsageError } from '../../errors.ts';

/** An error as plain values. A structured clone would lose the class, the code and SQLite's error number. */
export interface PackedError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: unknown;
  readonly errcode: unknown;
  readonly cause: PackedError | null;
}

/** Packs a thrown value and its causes. */
export function packError(thrown: unknown): PackedError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  const cause = error.cause === undefined ? null : packError(error.cause);
  return { name: error.name, message: error.message, stack: error.stack, code, errcode, cause };
}

const operatorErrors: Readonly<Record<string, typeof OperatorError>> = {
  OperatorError,
  OutcomeUnknownError,
  UsageError,
};

/** Returns the error with its original class if errors.ts declares that class, otherwise as Error. */
export function unpackError({ name, message, stack, code, errcode, cause }: PackedError): Error {
  const options = cause === null ? undefined : { cause: unpackError(cause) };
  const error =
    name === 'AppError'
      ? new AppError(code as ErrorCode, message, options)
      : new (operatorErrors[name] ?? Error)(message, options);
  return Object.assign(error, {
    ...(stack !== undefined && { stack }),
    ...(code !== undefined && { code }),
    ...(errcode !== undefined && { errcode }),
  });
}

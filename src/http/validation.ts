import type { FastifySchema, FastifySchemaCompiler } from 'fastify';
import type { AppError } from '../errors.ts';

/** Checks one part of a request: true to take it as it is, a value to take in its place, or what is wrong with it. */
export type Check = (part: unknown) => true | { readonly value: unknown } | { readonly error: AppError };

/** A route's checks by the part of the request; a part without one is taken as it is. */
export function validateWith(
  checks: Partial<Record<'querystring' | 'body', Check>>,
): FastifySchemaCompiler<FastifySchema> {
  return ({ httpPart }) => {
    const check = httpPart === 'querystring' || httpPart === 'body' ? checks[httpPart] : undefined;
    return check ?? (() => true);
  };
}

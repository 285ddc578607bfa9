import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import { redactKeys } from '../observability/redact-keys.ts';
import type { Done } from './arrival.ts';

/** Whether a client asks for strict handling: `Prefer: handling=strict` (RFC 7240), the first `handling` counts. */
export function isStrict(prefer: string | readonly string[] | undefined): boolean {
  if (prefer === undefined) return false;
  const preferences = String(prefer).split(',');
  const handling = preferences
    .map((one) => one.split(';')[0]?.trim() ?? '')
    .find((one) => /^handling\s*=/i.test(one));
  return handling !== undefined && /^handling\s*=\s*(?:strict|"strict")$/i.test(handling);
}

/**
 * Under strict handling refuses a query parameter or a body field that the route's schema does not name, naming it
 * (contract section 2). To run once the body is parsed.
 */
export function refuseUnknown(request: FastifyRequest, _reply: FastifyReply, done: Done): void {
  done(isStrict(request.headers['prefer']) ? nameUnknown(request) : undefined);
}

function nameUnknown({ query, body, routeOptions }: FastifyRequest): AppError | undefined {
  const schema = routeOptions.schema ?? {};
  const parameter = findUnknown(query, schema.querystring);
  if (parameter !== undefined)
    return new AppError(
      'invalid_parameter',
      `${redactKeys(parameter)} is no query parameter of this operation`,
    );
  const field = findUnknown(body, schema.body);
  return field === undefined
    ? undefined
    : new AppError('invalid_body', `${redactKeys(field)} is no field of this body`);
}

function findUnknown(value: unknown, schema: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const known =
    typeof schema === 'object' && schema !== null && 'properties' in schema ? schema.properties : {};
  return Object.keys(value).find((name) => !Object.hasOwn(known as object, name));
}

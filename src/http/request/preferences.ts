import { AppError } from '../../errors.ts';
import { toSafeText } from '../../observability/safe-text.ts';

/** True if the client asks for `Prefer: handling=strict` (RFC 7240). Of several `handling`, the first one counts. */
export function isStrict(prefer: string | readonly string[] | undefined): boolean {
  if (prefer === undefined) return false;
  const preferences = String(prefer).split(',');
  const handling = preferences
    .map((one) => one.split(';')[0]?.trim() ?? '')
    .find((one) => /^handling\s*=/i.test(one));
  return handling !== undefined && /^handling\s*=\s*(?:strict|"strict")$/i.test(handling);
}

/** Maximum number of characters of an unknown name in an error message. */
const nameLengthMax = 100;

const kinds = {
  invalid_parameter: 'a query parameter of this operation',
  invalid_body: 'a field of this body',
} as const;

/** Throws AppError if an object has a field that is not in `known`. Ignores values that are not objects. */
export function refuseUnknown(code: keyof typeof kinds, value: unknown, known: readonly string[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const shown = toSafeText(unknown).slice(0, nameLengthMax) || 'an empty name';
  throw new AppError(code, `${shown} is not ${kinds[code]}`);
}
